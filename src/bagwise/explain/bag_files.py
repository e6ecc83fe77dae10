"""The files of one explained bag: rows for csv, GeoJSON for QuPath, and figures."""

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bagwise.bags import Bags
from bagwise.explain.deletion import DeletionCurves
from bagwise.explain.geojson import to_geojson
from bagwise.explain.heatmaps.window import get_tile_grid
from bagwise.explain.layers import LAYERS, BagLayers, make_map_layer
from bagwise.figures import plot_bag_strip, plot_panels, plot_removal_curves, use_style
from bagwise.io import JsonObject, write_atomically
from bagwise.runs import OpenRun
from bagwise.targets import Output

FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")
MAX_IN_STRIP = 36
STRIP_COLUMNS = 12
MIN_WIDTH = 6.0  # inches, so that the title fits
DPI = 130


def make_instance_rows(open_run: OpenRun, layers: BagLayers, bag: int) -> list[JsonObject]:
    """Return one row per instance of a test bag, with all digits.

    Parameters
    ----------
    open_run : OpenRun
        The run of the bag.
    layers : BagLayers
        Layers of that run.
    bag : int
        Index of the test bag.

    Returns
    -------
    list of dict
        Bag, instance, position (x and y, if known), the layers of the target for each output (weight, contribution,
        output of the instance as a bag of its own), and whether it is a key instance (if known).
    """
    single, name = open_run.bag(bag), open_run.run.predictions[bag]["bag"]
    target, columns = open_run.run.target, {}
    for layer in target.layers:
        if not LAYERS[layer].of_output:
            columns[LAYERS[layer].column] = layers.values(layer, bag, 0)
            continue
        for number, output in enumerate(target.outputs):
            columns[f"{LAYERS[layer].column} {output.title}"] = layers.values(layer, bag, number)
    texts = {title: [repr(value) for value in values.astype(float).tolist()] for title, values in columns.items()}
    return [
        {"bag": escape_formula(name), "instance": instance, **_get_position(single, instance)}
        | {title: values[instance] for title, values in texts.items()}
        | _get_key_label(single, instance)
        for instance in range(single.n_instances)
    ]


def escape_formula(name: str) -> str:
    """Prefix a name with an apostrophe if a spreadsheet would evaluate it as a formula.

    >>> escape_formula("=cmd|calc"), escape_formula("slide-1")
    ("'=cmd|calc", 'slide-1')
    """
    return f"'{name}" if name.startswith(FORMULA_PREFIXES) else name


def _get_position(bag: Bags, instance: int) -> JsonObject:
    return {} if bag.positions is None else dict(zip("xy", bag.positions[instance].tolist(), strict=True))


def _get_key_label(bag: Bags, instance: int) -> JsonObject:
    return {} if bag.instance_labels is None else {"key": int(bag.instance_labels[instance] > 0)}


def tiles_to_geojson(open_run: OpenRun, layers: BagLayers, bag: int, output_number: int) -> JsonObject:
    """Return every tile of a test bag as GeoJSON, with each layer as a measurement.

    Parameters
    ----------
    open_run : OpenRun
        The run of the bag.
    layers : BagLayers
        Layers of that run.
    bag : int
        Index of the test bag.
    output_number : int
        Index of the output of contributions and outputs of single instances.

    Returns
    -------
    dict
        A FeatureCollection.
    """
    positions, tile_size = get_tile_grid(open_run.bag(bag))
    measurements = {name: layers.values(name, bag, output_number) for name in open_run.run.target.layers}
    return to_geojson(positions, tile_size, measurements, open_run.run.target.outputs[output_number].title)


def regions_to_geojson(
    open_run: OpenRun, layers: BagLayers, bag: int, *, layer: str, output_number: int, scale: str, threshold: float
) -> JsonObject:
    """Return regions of adjacent tiles whose scaled values reach the threshold, as GeoJSON."""
    label = open_run.run.target.outputs[output_number].title
    map_layer = make_map_layer(layer, layers.values(layer, bag, output_number), label)
    measurements = {f"{layer}, {scale} scale": map_layer.scale_values(scale).values, layer: map_layer.values}
    positions, tile_size = get_tile_grid(open_run.bag(bag))
    return to_geojson(positions, tile_size, measurements, label, threshold=threshold, merged=True)


def save_strip(path: Path, bag: Bags, weights: np.ndarray, title: str) -> Path:
    """Save a figure of the instances with the highest weights, with frames around key instances."""
    chosen = np.argsort(-weights, kind="stable")[:MAX_IN_STRIP]
    key = None if bag.instance_labels is None else bag.instance_labels[chosen] > 0
    rows = -(-len(chosen) // STRIP_COLUMNS)
    with use_style():
        width = max(min(len(chosen), STRIP_COLUMNS) * 0.9 + 0.4, MIN_WIDTH)
        figure = Figure(figsize=(width, rows * 1.25 + 0.5), layout="constrained")
        axes = plot_bag_strip(figure.subplots(), bag.instances[chosen], weights[chosen], key, STRIP_COLUMNS)
        axes.set_title(title, loc="left", parse_math=False)
        return _save_figure(path, figure)


def save_curves(path: Path, curves: DeletionCurves, output: Output, title: str) -> Path:
    """Save a figure of the deletion and insertion curves of an output."""
    with use_style():
        figure = Figure(figsize=(4.4, 4.4), layout="constrained")
        axes = plot_removal_curves(figure.subplots(), curves.shares, curves.deletion, curves.insertion, output)
        axes.set_xlabel(f"{axes.get_xlabel()}\n{title}", parse_math=False)
        return _save_figure(path, figure)


def save_panels(path: Path, pictures: Mapping[str, np.ndarray], title: str) -> Path:
    """Save images side by side as a PNG file.

    Parameters
    ----------
    path : Path
        File to write.
    pictures : mapping of str to ndarray of shape (height, width, 3)
        Images as uint8, by title.
    title : str
        Title of the figure.

    Returns
    -------
    Path
        The file written.
    """
    with use_style():
        figure = Figure(figsize=(3 * len(pictures), 3.6), layout="constrained")
        plot_panels(figure, pictures).suptitle(title, x=0.01, ha="left", parse_math=False)
        return _save_figure(path, figure)


def _save_figure(path: Path, figure: Figure) -> Path:
    with write_atomically(path) as temporary, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # a box is drawn instead
        figure.savefig(temporary, format="png", dpi=DPI, facecolor="white")
    return path
