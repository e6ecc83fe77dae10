"""A bag for QuPath: its tiles with their numbers, or the regions that those of high value make."""

from bagwise.explain.geojson import to_geojson
from bagwise.explain.heatmaps import tiles_of
from bagwise.showing.layers import LAYERS, Layers, as_drawn
from bagwise.showing.shown_run import ShownRun
from bagwise.summary import Plain


def tiles_geojson(shown: ShownRun, layers: Layers, bag: int, class_number: int) -> Plain:
    """Every tile, with each layer as a measurement."""
    measurements = {name: layers.values(name, bag, class_number) for name in LAYERS}
    return to_geojson(*tiles_of(shown.bag(bag)), measurements, shown.run.classes[class_number])


def regions_geojson(
    shown: ShownRun, layers: Layers, bag: int, layer: str, class_number: int, scale: str, threshold: float
) -> Plain:
    """The tiles whose value on a scale is at least the threshold; those that touch are one region."""
    label = shown.run.classes[class_number]
    drawn = as_drawn(layer, layers.values(layer, bag, class_number), label)
    measurements = {f"{layer}, {scale} scale": drawn.scaled(scale).values, layer: drawn.values}
    return to_geojson(*tiles_of(shown.bag(bag)), measurements, label, threshold=threshold, merged=True)
