"""One map, from the values of tiles to the pixels of a picture: scaled, placed, coloured, laid over, captioned."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from bagwise.explain.heatmaps.captions import Caption, captioned
from bagwise.explain.heatmaps.colours import colouring
from bagwise.explain.heatmaps.grounds import Ground
from bagwise.explain.heatmaps.overlay import OPACITY, overlay
from bagwise.explain.heatmaps.raster import rasterise
from bagwise.explain.heatmaps.scales import Scaled, to_scale, to_signed_scale
from bagwise.explain.heatmaps.tiles import Tiles
from bagwise.explain.heatmaps.window import window_of
from bagwise.files import atomic


class Layer(NamedTuple):
    """What is drawn: a value for each tile, and what it is."""

    values: np.ndarray  # (n,)
    what: str  # "attention weight", "contribution"
    class_name: str | None = None  # None for what is of no class
    signed: bool = False  # whether values speak for or against the class, as contributions do

    def scaled(self, scale: str) -> Scaled:
        return to_signed_scale(self.values, scale) if self.signed else to_scale(self.values, scale)


class Look(NamedTuple):
    """How a map looks.

    scale : "paper", "raw", "rank" or "log"; tiles are scaled before those that overlap are averaged
    colour_map : a name of matplotlib's; None for the one that is best for such values
    threshold : the least scaled value that is drawn; of signed values, the least magnitude
    blur : standard deviation in level-0 pixels
    downsample : level-0 pixels a pixel of the map; None for a picture of at most 2048 × 2048
    region : x, y, width, height in level-0 pixels; None for all
    """

    scale: str = "paper"
    colour_map: str | None = None
    opacity: float = OPACITY
    threshold: float | None = None
    blur: float = 0.0
    downsample: float | None = None
    region: tuple[int, int, int, int] | None = None


USUAL = Look()


def draw_map(ground: Ground, tiles: Tiles, layer: Layer, look: Look = USUAL) -> np.ndarray:
    """The (height, width, 3) bytes of a picture with the map of a layer over it, and its caption below."""
    window = window_of(ground.size, look.downsample, look.region)
    scaled, colours = layer.scaled(look.scale), colouring(layer.signed, look.colour_map)
    heatmap = rasterise(scaled.values, tiles.positions, tiles.size, window, look.blur)
    picture = overlay(ground.read(window), heatmap, colours, look.opacity, look.threshold)
    return captioned(picture, Caption(layer.what, layer.class_name, scaled), colours)


def save_picture(path: Path, pixels: np.ndarray) -> Path:
    """Write a PNG."""
    import PIL.Image

    with atomic(path) as draft:
        PIL.Image.fromarray(pixels).save(draft, format="PNG")
    return path
