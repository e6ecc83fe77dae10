"""The tiles of a bag, and the window of a slide or image that is rendered; image and map have the same pixel grid.

pixel (row, column)  =  square of side downsample at (x + column · downsample, y + row · downsample)
"""

import math
from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError

MAX_PIXELS = 200_000_000
DEFAULT_SIDE = 2048  # pixels of the longer side of a picture, if no downsample is given


class TileGrid(NamedTuple):
    """The tiles of a bag, all of one size.

    Attributes
    ----------
    positions : ndarray of shape (n_tiles, 2)
        x and y of the upper left corners in level-0 pixels.
    size : float
        Side of a tile in level-0 pixels.
    """

    positions: np.ndarray
    size: float


class Window(NamedTuple):
    """A rectangle of a slide in level-0 pixels, and the resolution at which it is rendered.

    Attributes
    ----------
    slide : tuple of int
        Width and height of the slide.
    x, y : int
        Upper left corner.
    width, height : int
        Size of the rectangle.
    downsample : float
        Level-0 pixels per rendered pixel, along one side.
    """

    slide: tuple[int, int]
    x: int
    y: int
    width: int
    height: int
    downsample: float

    @property
    def columns(self) -> int:
        """Width in pixels of the picture."""
        return math.ceil(self.width / self.downsample)

    @property
    def rows(self) -> int:
        """Height in pixels of the picture."""
        return math.ceil(self.height / self.downsample)


def get_tile_grid(bag: Bags) -> TileGrid:
    """Return the tiles of a single bag.

    Parameters
    ----------
    bag : Bags
        A single bag with positions and a tile size.

    Returns
    -------
    TileGrid
        Positions and size of the tiles.

    Raises
    ------
    InputError
        If there is not exactly one bag, or it has no positions or no tile size.
    """
    if len(bag) != 1:
        raise InputError(f"a map needs exactly one bag, got {len(bag)}; select one, e.g. bags[[0]]")
    if bag.positions is None:
        raise InputError(
            f"bag '{bag.name(0)}' has no positions, so no map can be rendered; import its features with positions"
        )
    if bag.tile_sizes is None:
        raise InputError(
            f"bag '{bag.name(0)}' has positions but no tile size; import its features again with --patches FOLDER"
        )
    return TileGrid(bag.positions, float(bag.tile_sizes[0]))


def make_window(
    slide: tuple[int, int], downsample: float | None = None, region: tuple[int, int, int, int] | None = None
) -> Window:
    """Return the window of a slide, or of a region of it.

    Parameters
    ----------
    slide : tuple of int
        Width and height of the slide in level-0 pixels.
    downsample : float or None, default=None
        Level-0 pixels per rendered pixel, at least 1; None chooses it so that the longer side has at most 2048 pixels.
    region : tuple of int or None, default=None
        x, y, width and height in level-0 pixels; None means the whole slide.

    Returns
    -------
    Window
        The window.

    Raises
    ------
    InputError
        If the region is not inside the slide, the downsample is below 1, or the picture would be too large.

    Examples
    --------
    >>> make_window((10_000, 6_000)).columns
    2048
    """
    x, y, width, height = (0, 0, *slide) if region is None else region
    if min(x, y) < 0 or min(width, height) < 1 or x + width > slide[0] or y + height > slide[1]:
        raise InputError(
            f"the region x {x}, y {y}, width {width}, height {height} is not inside the slide of "
            f"{slide[0]} × {slide[1]} level-0 pixels; choose a region within the slide"
        )
    downsample = max(1.0, max(width, height) / DEFAULT_SIDE) if downsample is None else float(downsample)
    if not 1 <= downsample < math.inf:
        raise InputError(f"downsample must be at least 1 (level-0 pixels per pixel of the map), got {downsample:g}")
    window = Window(slide=slide, x=x, y=y, width=width, height=height, downsample=downsample)
    _check_size(window)
    return window


def check_positions(positions: np.ndarray, slide: tuple[int, int]) -> None:
    """Check that every tile starts inside the slide; it may extend over the right and lower border.

    Parameters
    ----------
    positions : ndarray of shape (n_tiles, 2)
        x and y of the upper left corners in level-0 pixels.
    slide : tuple of int
        Width and height of the slide in level-0 pixels.

    Raises
    ------
    InputError
        If a tile starts outside the slide; the message names the first one.
    """
    inside = np.isfinite(positions) & (positions >= 0) & (positions < np.array(slide))
    if not inside.all():
        row = int(np.argmin(inside.all(axis=1)))
        x, y = positions[row].tolist()
        raise InputError(
            f"tile {row} at ({x:g}, {y:g}) is outside the slide of {slide[0]} × {slide[1]} level-0 pixels; "
            "check that the positions belong to this slide and are in level-0 pixels"
        )


def _check_size(window: Window) -> None:
    pixels = window.rows * window.columns
    if pixels > MAX_PIXELS:
        sufficient = math.ceil(math.sqrt(window.width * window.height / MAX_PIXELS) * 1.01)
        raise InputError(
            f"the picture would have {pixels / 1e6:,.0f} megapixels; the limit is {MAX_PIXELS / 1e6:.0f}. "
            f"Use a downsample of at least {sufficient} (a higher --level), or a smaller --region"
        )
