"""The explanation of one test bag, written to a folder.

explanation.json     label, outputs with all digits, scores, and the reliability of the weights
instances.csv        one row per instance: position, weight, contributions, outputs as a bag of its own
weights.npy          (n_instances,)
contributions.npy    (n_instances, n_outputs), and probabilities.npy for classes, outputs.npy for other targets
strip.png            the instances with the highest weights, key instances framed
curves.png           deletion and insertion curves
panels.png           the five panels of the paper, if there is an image of the bag
map.png              heatmap of the requested layer over the image or slide
tiles/               the tiles with the highest values of that layer
tiles.geojson        every tile with its measurements
regions.geojson      regions of adjacent tiles whose values reach the threshold
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator
from bagwise.explain.bag_files import (
    make_instance_rows,
    regions_to_geojson,
    save_curves,
    save_panels,
    save_strip,
    tiles_to_geojson,
)
from bagwise.explain.deletion import DeletionCurves, compute_deletion_curves
from bagwise.explain.geojson import write_geojson
from bagwise.explain.heatmaps.backgrounds import Background
from bagwise.explain.heatmaps.map import MapStyle, render_map, save_picture, save_top_tiles
from bagwise.explain.heatmaps.scales import apply_scale
from bagwise.explain.heatmaps.window import get_tile_grid
from bagwise.explain.layers import BagLayers, make_map_layer
from bagwise.explain.panels import has_panels, render_panels
from bagwise.explain.trust import Trust, assess_trust
from bagwise.figures import shorten_text
from bagwise.io import JsonObject, write_array, write_csv, write_folder_atomically, write_json, write_manifest
from bagwise.runs import OpenRun, compute_weight_spread, format_label

KIND = "bagwise explanation"
REGION_THRESHOLD = 0.5  # of the scaled values, if no threshold is given
MAX_TITLE_WORD = 40  # characters of a bag name or label in a title


class ReferenceModel(NamedTuple):
    """Another model whose outputs for single instances are shown beside the weights.

    Attributes
    ----------
    name : str
        Name shown in the title of the panel.
    model : BagEstimator
        The fitted model.
    """

    name: str
    model: BagEstimator


class ExplanationSettings(NamedTuple):
    """Content and style of an explanation.

    Attributes
    ----------
    layer : str, default="weight"
        Layer of the map, one of the layers of the target.
    output_number : int, default=0
        Index of the output of contributions, outputs of single instances, and curves.
    style : MapStyle, default=MapStyle()
        Style of the map.
    top : int, default=10
        Number of tiles with the highest values to save.
    beside : ReferenceModel or None, default=None
        Model shown in panel (e); Instance+max in the paper. None leaves the panel out.
    seeds : tuple of BagEstimator, default=()
        Models trained with other random seeds, to compute the spread of the weights.
    """

    layer: str = "weight"
    output_number: int = 0
    style: MapStyle = MapStyle()
    top: int = 10
    beside: ReferenceModel | None = None
    seeds: tuple[BagEstimator, ...] = ()


def write_explanation(
    folder: Path,
    open_run: OpenRun,
    layers: BagLayers,
    bag: int,
    background: Background | None,
    settings: ExplanationSettings,
) -> list[str]:
    """Write the explanation of a test bag to a folder.

    Parameters
    ----------
    folder : Path
        Folder to write to. An earlier explanation is replaced; a folder with other contents raises an error.
    open_run : OpenRun
        The run of the bag.
    layers : BagLayers
        Layers of that run.
    bag : int
        Index of the test bag.
    background : Background or None
        The image or slide of the bag; None writes neither a map nor panels.
    settings : ExplanationSettings
        Content and style of the explanation.

    Returns
    -------
    list of str
        Names of the files written, relative to the folder.
    """
    with write_folder_atomically(folder, KIND) as temporary:
        spread = _compute_spread(open_run, layers, bag, settings)
        curves = _compute_curves(open_run, layers, bag, settings)
        trust = assess_trust(layers.weights(bag), np.array([0, open_run.bag(bag).n_instances]), spread)
        write_json(temporary / "explanation.json", describe_explanation(open_run, layers, bag, trust, curves, settings))
        write_csv(temporary / "instances.csv", _make_rows(open_run, layers, bag, spread))
        _save_arrays(temporary, open_run, layers, bag)
        if open_run.bag(bag).positions is not None and open_run.bag(bag).tile_sizes is not None:
            _write_geojson(temporary, open_run, layers, bag, settings)
        _save_figures(temporary, open_run, layers, bag, curves, settings)
        if background is not None:
            _save_maps(temporary, open_run, layers, bag, background, settings)
        write_manifest(temporary, KIND)
        return sorted(path.relative_to(temporary).as_posix() for path in temporary.rglob("*") if path.is_file())


def describe_explanation(
    open_run: OpenRun,
    layers: BagLayers,
    bag: int,
    trust: Trust,
    curves: DeletionCurves,
    settings: ExplanationSettings,
) -> JsonObject:
    """Return the content of explanation.json; outputs are strings, as in the predictions of the run."""
    explanation, row, target = layers.explanation(bag), open_run.run.predictions[bag], open_run.run.target
    titles = [output.title for output in target.outputs]
    return {
        "bag": row["bag"],
        "label": format_label(row),
        "predicted": format_label(row, "predicted"),
        target.outputs_name: {output.title: row[output.name] for output in target.outputs},
        "scores": dict(zip(titles, explanation.scores[0].tolist(), strict=True)),
        "baseline": dict(zip(titles, explanation.baseline.tolist(), strict=True)),
        "contributions": explanation.method,
        "n_instances": int(row["n_instances"]),
        "effective_number": float(trust.effective_number[0]),
        "top_weight": float(trust.top_weight[0]),
        "warnings": trust.warnings[0],
        target.output_word: titles[settings.output_number],
        "deletion_area": curves.deletion_area,
        "insertion_area": curves.insertion_area,
    }


def _compute_spread(open_run: OpenRun, layers: BagLayers, bag: int, settings: ExplanationSettings) -> np.ndarray | None:
    """Compute the standard deviation of each weight over the seeds."""
    if not settings.seeds:
        return None
    of_seeds = (model.weigh(open_run.bag(bag)) for model in settings.seeds)
    return compute_weight_spread([layers.weights(bag), *of_seeds])


def _compute_curves(open_run: OpenRun, layers: BagLayers, bag: int, settings: ExplanationSettings) -> DeletionCurves:
    """Compute deletion curves, with instances ranked by contribution, because a weight belongs to no output."""
    order = np.argsort(-layers.values("contribution", bag, settings.output_number), kind="stable")
    return compute_deletion_curves(open_run.model, open_run.bag(bag), order, settings.output_number)


def _make_rows(open_run: OpenRun, layers: BagLayers, bag: int, spread: np.ndarray | None) -> list[JsonObject]:
    rows = make_instance_rows(open_run, layers, bag)
    if spread is None:
        return rows
    return [{**row, "weight spread": repr(float(value))} for row, value in zip(rows, spread, strict=True)]


def _save_arrays(folder: Path, open_run: OpenRun, layers: BagLayers, bag: int) -> None:
    arrays = {
        "weights": layers.weights(bag),
        "contributions": layers.explanation(bag).contributions,
        open_run.run.target.outputs_name: layers.outputs(bag),
    }
    for name, values in arrays.items():
        write_array(folder / f"{name}.npy", values)


def _write_geojson(folder: Path, open_run: OpenRun, layers: BagLayers, bag: int, settings: ExplanationSettings) -> None:
    write_geojson(folder / "tiles.geojson", tiles_to_geojson(open_run, layers, bag, settings.output_number))
    regions = regions_to_geojson(
        open_run,
        layers,
        bag,
        layer=settings.layer,
        output_number=settings.output_number,
        scale=settings.style.scale,
        threshold=REGION_THRESHOLD if settings.style.threshold is None else settings.style.threshold,
    )
    write_geojson(folder / "regions.geojson", regions)


def _save_figures(
    folder: Path,
    open_run: OpenRun,
    layers: BagLayers,
    bag: int,
    curves: DeletionCurves,
    settings: ExplanationSettings,
) -> None:
    title, target = _make_title(open_run, bag), open_run.run.target
    output = target.outputs[settings.output_number]
    save_strip(
        folder / "strip.png", open_run.bag(bag), layers.weights(bag), f"{title}: instances by weight, highest first"
    )
    ranking = f"ranked by contribution to {target.output_word} {output.title}"
    save_curves(folder / "curves.png", curves, output, f"{ranking}; {title}")


def _save_maps(
    folder: Path,
    open_run: OpenRun,
    layers: BagLayers,
    bag: int,
    background: Background,
    settings: ExplanationSettings,
) -> None:
    """Save the files that need the image or slide of the bag."""
    single, weights = open_run.bag(bag), layers.weights(bag)
    target = open_run.run.target
    label = target.outputs[settings.output_number].title
    subject = f"{target.output_word} {label}"
    tiles = get_tile_grid(single)
    layer = make_map_layer(settings.layer, layers.values(settings.layer, bag, settings.output_number), subject)
    save_picture(folder / "map.png", render_map(background, tiles, layer, settings.style))
    save_top_tiles(folder / "tiles", background, tiles, layer.values, settings.top)
    if has_panels(background):
        reference = _predict_reference(settings, single, label)
        pictures = render_panels(single, background, weights, reference, settings.style.scale)
        of_class = [f"(e): {subject}"] if settings.beside else []
        parts = [_make_title(open_run, bag), apply_scale(weights, settings.style.scale).caption, *of_class]
        save_panels(folder / "panels.png", pictures, "; ".join(parts))


def _predict_reference(settings: ExplanationSettings, bag: Bags, label: str) -> dict[str, np.ndarray]:
    """Return the reference model's output for every instance, by the model's name."""
    if settings.beside is None:
        return {}
    name, model = settings.beside
    titles = [output.title for output in model.target_.outputs]
    if label not in titles:
        raise InputError(
            f"the reference model '{name}' predicts {model.target_.describe()}, not {label}; give a run trained on the "
            "same target with --beside RUN"
        )
    return {name: model.predict_outputs(bag.singletons())[:, titles.index(label)]}


def _make_title(open_run: OpenRun, bag: int) -> str:
    row = open_run.run.predictions[bag]
    texts = (row["bag"], format_label(row), format_label(row, "predicted"))
    name, label, predicted = (shorten_text(text, MAX_TITLE_WORD) for text in texts)
    return f"{name}, label {label}, predicted {predicted}"
