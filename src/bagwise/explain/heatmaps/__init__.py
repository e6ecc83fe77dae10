"""Maps of slides and images: the value of each tile where the tile lies."""

from bagwise.explain.heatmaps.drawing import Layer, Look, draw_map, save_picture
from bagwise.explain.heatmaps.grounds import Ground, open_ground
from bagwise.explain.heatmaps.painting import cut_patches, paint
from bagwise.explain.heatmaps.pictures import Pictures
from bagwise.explain.heatmaps.raster import Heatmap, rasterise
from bagwise.explain.heatmaps.scales import SCALES, Scaled, rescaled, to_scale, to_signed_scale
from bagwise.explain.heatmaps.tiles import Tiles, tiles_of
from bagwise.explain.heatmaps.top_tiles import save_top_tiles, tile_picture
from bagwise.explain.heatmaps.window import Window, window_of

__all__ = [
    "SCALES",
    "Ground",
    "Heatmap",
    "Layer",
    "Look",
    "Pictures",
    "Scaled",
    "Tiles",
    "Window",
    "cut_patches",
    "draw_map",
    "open_ground",
    "paint",
    "rasterise",
    "rescaled",
    "save_picture",
    "save_top_tiles",
    "tile_picture",
    "tiles_of",
    "to_scale",
    "to_signed_scale",
    "window_of",
]
