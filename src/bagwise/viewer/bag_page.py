"""One bag and one instance in plain dictionaries: what the page needs beside the numbers it draws."""

from collections.abc import Sequence

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.explain.heatmaps.grounds import Ground
from bagwise.explain.heatmaps.tiles import tiles_of
from bagwise.explain.heatmaps.window import check_positions
from bagwise.explain.trust import judge_trust
from bagwise.figures.pictures import is_picture
from bagwise.showing.layers import Layers
from bagwise.showing.seeds import weight_spread
from bagwise.showing.shown_run import ShownRun
from bagwise.summary import Plain
from bagwise.viewer.deep_zoom import TILE, deepest_level
from bagwise.viewer.differing import Usual, differing_features
from bagwise.viewer.gallery import Found


def describe_bag(
    shown: ShownRun, layers: Layers, bag: int, found: Found, over_seeds: Sequence[np.ndarray] = ()
) -> Plain:
    """Where its instances lie, what they look like, and how far its weights are to be trusted.

    over_seeds : the weights of the bag's instances by this run and by others that differ in their seed alone
    """
    bags, missing = shown.opened
    one = None if bags is None else bags[[bag]]
    weights = layers.weights(bag)
    spread = weight_spread(over_seeds) if len(over_seeds) > 1 else None
    trust = judge_trust(weights, np.array([0, len(weights)]), spread)
    places, misplaced = (None, None) if one is None else _places(one, found.picture)
    return {
        "kind": "missing" if one is None else "pictures" if is_picture(one.instance_shape) else "features",
        "places": places,
        "picture": None if found.picture is None else _tiles(found.picture),
        "key_instances": one is not None and one.instance_labels is not None,
        "effective_number": float(trust.effective_number[0]),
        "top_weight": float(trust.top_weight[0]),
        "n_seeds": len(over_seeds),
        "spread": None if spread is None else float(spread.sum()),
        "notes": [*trust.warnings[0], *filter(None, [missing, found.problem, misplaced])],
    }


def describe_instance(
    shown: ShownRun,
    layers: Layers,
    usual: Usual | None,
    bag: int,
    instance: int,
    over_seeds: Sequence[np.ndarray] = (),
) -> Plain:
    """The numbers of an instance to the last digit, as text, and the features by which it differs most.

    usual : of the features of all instances; None where they are pixels, which one looks at instead
    """
    one, weights = shown.bag(bag), layers.weights(bag)
    values = one.instances[instance]
    return {
        "weight": repr(float(weights[instance])),
        "weight_over_seeds": [float(each[instance]) for each in over_seeds] if len(over_seeds) > 1 else None,
        "rank": int((weights > weights[instance]).sum()) + 1,
        "contributions": [repr(float(value)) for value in layers.explanation(bag).contributions[instance]],
        "probabilities": [repr(float(value)) for value in layers.probabilities(bag)[instance]],
        "position": None if one.positions is None else one.positions[instance].tolist(),
        "key": None if one.instance_labels is None else bool(one.instance_labels[instance] > 0),
        "features": [] if usual is None else differing_features(values, usual),
    }


def _places(one: Bags, picture: Ground | None) -> tuple[Plain | None, str | None]:
    """The rectangle of the tiles in level-0 pixels, and what is wrong with it; neither where there are no positions."""
    if one.positions is None:
        return None, None
    try:
        tiles = tiles_of(one)
    except InputError as error:
        return None, str(error)
    bounds = [*tiles.positions.min(axis=0).tolist(), *(tiles.positions.max(axis=0) + tiles.size).tolist()]
    return {"tile_size": tiles.size, "bounds": bounds}, _misplaced(tiles.positions, picture)


def _misplaced(corners: np.ndarray, picture: Ground | None) -> str | None:
    try:
        if picture is not None:
            check_positions(corners, (picture.width, picture.height))
    except InputError as error:
        return str(error)
    return None


def _tiles(picture: Ground) -> Plain:
    return {"width": picture.width, "height": picture.height, "tile": TILE, "deepest": deepest_level(picture)}
