"""Descriptions of a bag and of an instance for the page, as JSON values.

An instance that is a feature vector is described by the features that deviate most from their mean over all test bags:

    dⱼ = (xⱼ − mean of feature j)/(standard deviation of feature j)
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags, RowView
from bagwise.errors import InputError
from bagwise.explain import BagLayers, assess_trust
from bagwise.explain.heatmaps import Background, check_positions, get_tile_grid
from bagwise.figures import is_image_shape
from bagwise.io import JsonObject
from bagwise.runs import OpenRun, compute_weight_spread
from bagwise.viewer.pictures import TILE_SIDE, BagPicture, compute_max_level

MAX_ROWS = 10_000  # instances used for the statistics; if there are more, evenly spaced ones
MAX_FEATURES = 12
NEGLIGIBLE = 1e-9  # standard deviations below this share of the mean are rounding errors


class FeatureStatistics(NamedTuple):
    """Mean and standard deviation of every feature, each of shape (n_features,)."""

    means: np.ndarray
    deviations: np.ndarray


def describe_bag(
    open_run: OpenRun,
    layers: BagLayers,
    bag: int,
    picture: BagPicture,
    weights_by_seed: Sequence[np.ndarray] = (),
) -> JsonObject:
    """Return the kind of data, the extent of tiles and picture, and how reliable the weights are.

    ``weights_by_seed`` are the weights of the bag in this run and in the runs that differ only in their seed.
    """
    bags, missing = open_run.opened
    single = None if bags is None else bags[[bag]]
    weights = layers.weights(bag)
    spread = compute_weight_spread(weights_by_seed) if len(weights_by_seed) > 1 else None
    trust = assess_trust(weights, np.array([0, len(weights)]), spread)
    tile_grid, position_problem = (None, None) if single is None else _describe_tiles(single, picture.background)
    return {
        "kind": "missing" if single is None else "pictures" if is_image_shape(single.instance_shape) else "features",
        "tile_grid": tile_grid,
        "picture": None if picture.background is None else _describe_picture(picture.background),
        "key_instances": single is not None and single.instance_labels is not None,
        "effective_number": float(trust.effective_number[0]),
        "top_weight": float(trust.top_weight[0]),
        "n_seeds": len(weights_by_seed),
        "spread": None if spread is None else float(spread.sum()),
        "notes": [*trust.warnings[0], *filter(None, [missing, picture.problem, position_problem])],
    }


def _describe_tiles(bag: Bags, background: Background | None) -> tuple[JsonObject | None, str | None]:
    """Return tile size and bounding box of the tiles in level-0 pixels, and a problem; both None without positions."""
    if bag.positions is None:
        return None, None
    try:
        tiles = get_tile_grid(bag)
    except InputError as error:
        return None, str(error)
    bounds = [*tiles.positions.min(axis=0).tolist(), *(tiles.positions.max(axis=0) + tiles.size).tolist()]
    return {"tile_size": tiles.size, "bounds": bounds}, _find_position_problem(tiles.positions, background)


def _find_position_problem(positions: np.ndarray, background: Background | None) -> str | None:
    try:
        if background is not None:
            check_positions(positions, background.size)
    except InputError as error:
        return str(error)
    return None


def _describe_picture(background: Background) -> JsonObject:
    return {
        "width": background.width,
        "height": background.height,
        "tile_side": TILE_SIDE,
        "max_level": compute_max_level(background),
    }


def describe_instance(
    open_run: OpenRun,
    layers: BagLayers,
    bag: int,
    instance: int,
    statistics: FeatureStatistics | None = None,
    weights_by_seed: Sequence[np.ndarray] = (),
) -> JsonObject:
    """Return the values of an instance with all digits, as text, and its most unusual features.

    ``statistics`` are the feature statistics of all test bags; None if the instances are images.
    """
    single, weights = open_run.bag(bag), layers.weights(bag)
    values = single.instances[instance]
    return {
        "weight": repr(float(weights[instance])),
        "weight_over_seeds": [float(each[instance]) for each in weights_by_seed] if len(weights_by_seed) > 1 else None,
        "rank": int((weights > weights[instance]).sum()) + 1,
        "contributions": [repr(float(value)) for value in layers.explanation(bag).contributions[instance]],
        "outputs": [repr(float(value)) for value in layers.outputs(bag)[instance]],
        "position": None if single.positions is None else single.positions[instance].tolist(),
        "key": None if single.instance_labels is None else bool(single.instance_labels[instance] > 0),
        "features": [] if statistics is None else find_unusual_features(values, statistics, single.feature_names),
    }


def compute_feature_statistics(instances: np.ndarray | RowView) -> FeatureStatistics:
    """Compute the mean and standard deviation of every feature from at most ``MAX_ROWS`` evenly spaced instances."""
    is_large = len(instances) > MAX_ROWS
    rows = instances[np.linspace(0, len(instances) - 1, MAX_ROWS).astype(int) if is_large else slice(None)]
    values = np.asarray(rows, dtype=np.float64).reshape(len(rows), -1)
    return FeatureStatistics(values.mean(axis=0), values.std(axis=0))


def find_unusual_features(
    instance: np.ndarray, statistics: FeatureStatistics, names: Sequence[str] | None = None
) -> list[JsonObject]:
    """Return the features that deviate most from their means, in decreasing order; constant features are ignored.

    >>> statistics = FeatureStatistics(np.zeros(3), np.array([1.0, 3.0, 0.0]))
    >>> found = find_unusual_features(np.array([1.0, 9.0, 4.0]), statistics)
    >>> [(feature["feature"], feature["deviations"]) for feature in found]
    [('feature 1', 3.0), ('feature 0', 1.0)]
    """
    values = np.asarray(instance, dtype=np.float64).ravel()
    varying = np.flatnonzero(statistics.deviations > NEGLIGIBLE * np.abs(statistics.means))
    distances = (values[varying] - statistics.means[varying]) / statistics.deviations[varying]
    order = np.argsort(-np.abs(distances), kind="stable")[:MAX_FEATURES]
    return [
        {
            "feature": f"feature {feature}" if names is None else names[feature],
            "value": float(values[feature]),
            "mean": float(statistics.means[feature]),
            "deviations": float(distance),
        }
        for feature, distance in zip(varying[order], distances[order], strict=True)
    ]
