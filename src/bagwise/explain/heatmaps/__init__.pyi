__all__ = [
    "DIVERGING",
    "SCALES",
    "STEPS",
    "Background",
    "Heatmap",
    "MapLayer",
    "MapStyle",
    "PictureFolder",
    "Scaled",
    "TileGrid",
    "Window",
    "apply_colours",
    "apply_scale",
    "apply_signed_scale",
    "check_positions",
    "choose_colour_map",
    "cut_patches",
    "get_tile_grid",
    "make_window",
    "open_background",
    "paint_patches",
    "rasterise",
    "read_tile_picture",
    "render_map",
    "rescale",
    "save_picture",
    "save_top_tiles",
]

from .backgrounds import Background, open_background
from .map import MapLayer, MapStyle, read_tile_picture, render_map, save_picture, save_top_tiles
from .overlay import cut_patches, paint_patches
from .picture_folder import PictureFolder
from .raster import Heatmap, rasterise
from .scales import (
    DIVERGING,
    SCALES,
    STEPS,
    Scaled,
    apply_colours,
    apply_scale,
    apply_signed_scale,
    choose_colour_map,
    rescale,
)
from .window import TileGrid, Window, check_positions, get_tile_grid, make_window
