"""One bag explained in a folder: its numbers, its pictures, and a map for QuPath.

explanation.json     label, probabilities to the last digit, scores, and how far the weights can be trusted
instances.csv        a line an instance: position, weight, contributions, probabilities alone
weights.npy          (n_instances,); contributions.npy and probabilities.npy (n_instances, n_classes)
strip.png            the instances of greatest weight, key ones framed
curves.png           deletion and insertion
panels.png           the five panels of the paper, where there is an image of the bag
map.png              the layer that is asked for over the picture; tiles/ its greatest tiles
tiles.geojson        every tile with its numbers; regions.geojson: those above the threshold, joined
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator
from bagwise.explain import Curve, Trust, deletion_and_insertion, judge_trust
from bagwise.explain.geojson import write_geojson
from bagwise.explain.heatmaps import Ground, Look, draw_map, save_picture, save_top_tiles, tiles_of, to_scale
from bagwise.figures.style import shortened
from bagwise.files import atomic_folder, write_json
from bagwise.manifests import write_manifest
from bagwise.runs import write_table
from bagwise.showing.bag_pictures import save_curves, save_panels, save_strip
from bagwise.showing.geojson import regions_geojson, tiles_geojson
from bagwise.showing.instances import instance_rows
from bagwise.showing.layers import Layers, as_drawn, judge_alone
from bagwise.showing.panels import has_panels, panels
from bagwise.showing.seeds import weight_spread
from bagwise.showing.shown_run import ShownRun
from bagwise.summary import Plain
from bagwise.writing import write_array

KIND = "bagwise explanation"
REGIONS_FROM = 0.5  # on the scale, where nobody names a threshold


class Beside(NamedTuple):
    """Another model whose probabilities of single instances stand beside the weights."""

    name: str
    model: BagEstimator


class Wish(NamedTuple):
    """What is to be drawn, and how.

    layer : "weight", "contribution" or "probability"
    class_number : of contributions, probabilities and curves
    top : how many tiles of greatest value are saved
    beside : what panel (e) shows; in the paper it is Instance+max
    seeds : models of the same kind with other seeds, to see how far their weights differ
    """

    layer: str = "weight"
    class_number: int = 1
    look: Look = Look()
    top: int = 10
    beside: Beside | None = None
    seeds: tuple[BagEstimator, ...] = ()


def write_explanation(
    folder: Path, shown: ShownRun, layers: Layers, bag: int, ground: Ground | None, wish: Wish
) -> list[str]:
    """Write all that can be said of a test bag into a folder; returns the names of its files."""
    with atomic_folder(folder, KIND) as draft:
        spread, curve = _spread(shown, layers, bag, wish), _curve(shown, layers, bag, wish)
        trust = judge_trust(layers.weights(bag), np.array([0, shown.bag(bag).n_instances]), spread)
        write_json(draft / "explanation.json", describe(shown, layers, bag, trust, curve, wish))
        write_table(draft / "instances.csv", _rows(shown, layers, bag, spread))
        _save_arrays(draft, layers, bag)
        if shown.bag(bag).positions is not None and shown.bag(bag).tile_sizes is not None:
            _write_geojson(draft, shown, layers, bag, wish)
        _draw(draft, shown, layers, bag, curve, wish)
        if ground is not None:
            _draw_over(draft, shown, layers, bag, ground, wish)
        write_manifest(draft, KIND)
        return sorted(path.relative_to(draft).as_posix() for path in draft.rglob("*") if path.is_file())


def describe(shown: ShownRun, layers: Layers, bag: int, trust: Trust, curve: Curve, wish: Wish) -> Plain:
    """The facts of a bag; probabilities are the text of the run's predictions."""
    why, row, classes = layers.explanation(bag), shown.run.predictions[bag], shown.run.classes
    return {
        "bag": row["bag"],
        "label": row["label"],
        "predicted": row["predicted"],
        "probabilities": {label: row[f"probability {label}"] for label in classes},
        "scores": dict(zip(classes, why.scores[0].tolist(), strict=True)),
        "baseline": dict(zip(classes, why.baseline.tolist(), strict=True)),
        "contributions": why.method,
        "n_instances": int(row["n_instances"]),
        "effective_number": float(trust.effective_number[0]),
        "top_weight": float(trust.top_weight[0]),
        "warnings": trust.warnings[0],
        "class": classes[wish.class_number],
        "deletion_area": curve.deletion_area,
        "insertion_area": curve.insertion_area,
    }


def _spread(shown: ShownRun, layers: Layers, bag: int, wish: Wish) -> np.ndarray | None:
    """The standard deviation of each weight over the seeds."""
    if not wish.seeds:
        return None
    return weight_spread([layers.weights(bag), *(model.weigh(shown.bag(bag)) for model in wish.seeds)])


def _rows(shown: ShownRun, layers: Layers, bag: int, spread: np.ndarray | None) -> list[Plain]:
    rows = instance_rows(shown, layers, bag)
    if spread is None:
        return rows
    return [{**row, "weight spread": repr(float(value))} for row, value in zip(rows, spread, strict=True)]


def _curve(shown: ShownRun, layers: Layers, bag: int, wish: Wish) -> Curve:
    """By contribution to the class: the weight says how much an instance counts, not for which class."""
    order = np.argsort(-layers.values("contribution", bag, wish.class_number), kind="stable")
    return deletion_and_insertion(shown.model, shown.bag(bag), order, wish.class_number)


def _draw(draft: Path, shown: ShownRun, layers: Layers, bag: int, curve: Curve, wish: Wish) -> None:
    title = _title(shown, bag)
    save_strip(draft / "strip.png", shown.bag(bag), layers.weights(bag), f"{title}: weights, the greatest first")
    label = shown.run.classes[wish.class_number]
    save_curves(draft / "curves.png", curve, f"by contribution to class {label}; {title}")


def _draw_over(draft: Path, shown: ShownRun, layers: Layers, bag: int, ground: Ground, wish: Wish) -> None:
    """What needs the picture of the bag."""
    one, weights = shown.bag(bag), layers.weights(bag)
    values, label = layers.values(wish.layer, bag, wish.class_number), shown.run.classes[wish.class_number]
    tiles, layer = tiles_of(one), as_drawn(wish.layer, values, label)
    save_picture(draft / "map.png", draw_map(ground, tiles, layer, wish.look))
    save_top_tiles(draft / "tiles", ground, tiles, layer.values, wish.top)
    if has_panels(ground):
        pictures = panels(one, ground, weights, _other(wish, one, label), wish.look.scale)
        of_class = [f"(e): class {label}"] if wish.beside else []
        words = [_title(shown, bag), to_scale(weights, wish.look.scale).words, *of_class]
        save_panels(draft / "panels.png", pictures, "; ".join(words))


def _save_arrays(draft: Path, layers: Layers, bag: int) -> None:
    """Every layer as it is."""
    arrays = {
        "weights": layers.weights(bag),
        "contributions": layers.explanation(bag).contributions,
        "probabilities": layers.probabilities(bag),
    }
    for name, values in arrays.items():
        write_array(draft / f"{name}.npy", values)


def _write_geojson(draft: Path, shown: ShownRun, layers: Layers, bag: int, wish: Wish) -> None:
    write_geojson(draft / "tiles.geojson", tiles_geojson(shown, layers, bag, wish.class_number))
    least = REGIONS_FROM if wish.look.threshold is None else wish.look.threshold
    regions = regions_geojson(shown, layers, bag, wish.layer, wish.class_number, wish.look.scale, least)
    write_geojson(draft / "regions.geojson", regions)


def _other(wish: Wish, one: Bags, label: str) -> dict[str, np.ndarray]:
    """What the other model says of each instance, by its name."""
    if wish.beside is None:
        return {}
    name, model = wish.beside
    labels = [str(label) for label in model.classes_]
    if label not in labels:
        raise InputError(
            f"the model of {name} knows the classes {', '.join(labels)}, and not {label}; give another run"
        )
    return {name: judge_alone(model, one)[:, labels.index(label)]}


def _title(shown: ShownRun, bag: int) -> str:
    row = shown.run.predictions[bag]
    words = {role: shortened(row[role], 40) for role in ("bag", "label", "predicted")}
    return f"{words['bag']}, label {words['label']}, predicted {words['predicted']}"
