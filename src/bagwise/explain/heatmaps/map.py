"""A heatmap of the values of tiles over an image or slide, and the tiles with the highest values as files.

The values are scaled, rasterised, coloured, overlaid and captioned. Tile files are named by rank and value:
01-0.324.png, 02-0.107.png, …
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bagwise.arguments import check_whole_number
from bagwise.explain.heatmaps.backgrounds import Background
from bagwise.explain.heatmaps.captions import Caption, add_caption
from bagwise.explain.heatmaps.overlay import OPACITY, overlay_map
from bagwise.explain.heatmaps.raster import rasterise
from bagwise.explain.heatmaps.scales import Scaled, apply_scale, apply_signed_scale, choose_colour_map
from bagwise.explain.heatmaps.window import TileGrid, check_positions, make_window
from bagwise.io import write_atomically, write_folder_atomically, write_manifest

KIND = "bagwise top tiles"
MAX_TILE_SIDE = 512  # pixels; larger tiles are downsampled


class MapLayer(NamedTuple):
    """The values shown on a map.

    Attributes
    ----------
    values : ndarray of shape (n_tiles,)
        One value per tile.
    name : str
        Name for the caption, for example "weight".
    output : str or None, default=None
        Output that the values belong to, such as "class tumour"; None if they belong to no output.
    signed : bool, default=False
        Whether negative values are evidence against the output, as for contributions.
    """

    values: np.ndarray
    name: str
    output: str | None = None
    signed: bool = False

    def scale_values(self, scale: str) -> Scaled:
        """Scale the values.

        Parameters
        ----------
        scale : {"paper", "raw", "rank", "log"}
            Name of the scale.

        Returns
        -------
        Scaled
            The scaled values and the ends of the scale.
        """
        return apply_signed_scale(self.values, scale) if self.signed else apply_scale(self.values, scale)


class MapStyle(NamedTuple):
    """The style of a map.

    Attributes
    ----------
    scale : {"paper", "raw", "rank", "log"}, default="paper"
        Scale of the values, which is applied before overlapping tiles are averaged.
    colour_map : str or None, default=None
        Name of a matplotlib colour map; None means cividis, or RdBu_r if the values are signed.
    opacity : float, default=0.5
        Opacity of the map, from 0 to 1.
    threshold : float or None, default=None
        Smallest scaled value that is shown; for signed values, the smallest magnitude. None shows all values.
    blur : float, default=0.0
        Standard deviation of a Gaussian blur in level-0 pixels; 0 disables it.
    downsample : float or None, default=None
        Level-0 pixels per pixel of the map; None chooses it so that the longer side has at most 2048 pixels.
    region : tuple of int or None, default=None
        x, y, width and height in level-0 pixels; None means the whole slide.
    """

    scale: str = "paper"
    colour_map: str | None = None
    opacity: float = OPACITY
    threshold: float | None = None
    blur: float = 0.0
    downsample: float | None = None
    region: tuple[int, int, int, int] | None = None


DEFAULT_STYLE = MapStyle()


def render_map(background: Background, tiles: TileGrid, layer: MapLayer, style: MapStyle = DEFAULT_STYLE) -> np.ndarray:
    """Render a map over an image or slide, with its caption below.

    Parameters
    ----------
    background : Background
        The image or slide.
    tiles : TileGrid
        Positions and size of the tiles.
    layer : MapLayer
        The values of the tiles.
    style : MapStyle, default=MapStyle()
        Scale, colours, opacity and region of the map.

    Returns
    -------
    ndarray of shape (height, width, 3)
        The picture, as uint8.
    """
    window = make_window(background.size, style.downsample, style.region)
    scaled, colours = layer.scale_values(style.scale), choose_colour_map(layer.signed, style.colour_map)
    heatmap = rasterise(scaled.values, tiles.positions, tiles.size, window, style.blur)
    picture = overlay_map(background.read_window(window), heatmap, colours, style.opacity, style.threshold)
    return add_caption(picture, Caption(layer.name, layer.output, scaled), colours)


def save_picture(path: Path, pixels: np.ndarray) -> Path:
    """Write pixels to a PNG file.

    Parameters
    ----------
    path : Path
        File to write.
    pixels : ndarray of shape (height, width, 3)
        The picture, as uint8.

    Returns
    -------
    Path
        The file written.
    """
    import PIL.Image

    with write_atomically(path) as temporary:
        PIL.Image.fromarray(pixels).save(temporary, format="PNG")
    return path


def save_top_tiles(folder: Path, background: Background, tiles: TileGrid, values: np.ndarray, count: int) -> list[Path]:
    """Save the tiles with the highest values to a folder, named by rank and value.

    Parameters
    ----------
    folder : Path
        Folder to write to. An earlier folder of top tiles is replaced; a folder with other contents raises an error.
    background : Background
        The image or slide.
    tiles : TileGrid
        Positions and size of the tiles.
    values : ndarray of shape (n_tiles,)
        The values.
    count : int
        Number of tiles to save.

    Returns
    -------
    list of Path
        The files written, highest value first.
    """
    check_positions(tiles.positions, background.size)
    chosen = select_top(values, count)
    digits = max(2, len(str(len(chosen))))
    names = [f"{rank:0{digits}}-{values[tile]:.4g}.png" for rank, tile in enumerate(chosen, start=1)]
    with write_folder_atomically(folder, KIND) as temporary:
        for name, tile in zip(names, chosen, strict=True):
            save_picture(temporary / name, read_tile_picture(background, tiles, int(tile)))
        write_manifest(temporary, KIND)
    return [folder / name for name in names]


def select_top(values: np.ndarray, count: int) -> np.ndarray:
    """Return the indices of the highest values, highest first; equal values are in the order of the tiles.

    >>> select_top(np.array([0.1, 0.5, 0.4, 0.5]), 3).tolist()
    [1, 3, 2]
    """
    limit = check_whole_number("top tiles", count, minimum=1)
    return np.argsort(-np.asarray(values, dtype=np.float64), kind="stable")[:limit]


def read_tile_picture(background: Background, tiles: TileGrid, tile: int) -> np.ndarray:
    """Read the pixels of one tile, at full resolution or downsampled to 512 × 512 pixels.

    Parameters
    ----------
    background : Background
        The image or slide.
    tiles : TileGrid
        Positions and size of the tiles.
    tile : int
        Index of the tile.

    Returns
    -------
    ndarray of shape (side, side, 3)
        The picture, as uint8.
    """
    x, y = (round(value) for value in tiles.positions[tile].tolist())
    extent = math.ceil(tiles.size)
    return background.read_square(x, y, extent, min(extent, MAX_TILE_SIDE))
