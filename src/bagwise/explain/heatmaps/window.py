"""The part of a slide or image that is drawn, and how finely: one grid of pixels for the picture and for the map.

pixel (row, column) is the square of level-0 pixels from (x + column · downsample, y + row · downsample) on
"""

import math
from typing import NamedTuple

import numpy as np

from bagwise.errors import InputError

MOST_PIXELS = 200_000_000
LONGEST = 2048  # pixels of a picture's side where nobody says how fine it should be


class Window(NamedTuple):
    """A rectangle of a slide in level-0 pixels, drawn with one pixel for ``downsample`` × ``downsample`` of them."""

    slide: tuple[int, int]  # its width and height
    x: int
    y: int
    width: int
    height: int
    downsample: float

    @property
    def columns(self) -> int:
        return math.ceil(self.width / self.downsample)

    @property
    def rows(self) -> int:
        return math.ceil(self.height / self.downsample)


def window_of(
    slide: tuple[int, int], downsample: float | None = None, region: tuple[int, int, int, int] | None = None
) -> Window:
    """The window on a slide of this width and height, or on a region (x, y, width, height) of it.

    downsample : None for what makes the longer side 2048 pixels, or as many as it has if they are fewer

    >>> window_of((10_000, 6_000)).columns
    2048
    """
    x, y, width, height = (0, 0, *slide) if region is None else region
    if min(x, y) < 0 or min(width, height) < 1 or x + width > slide[0] or y + height > slide[1]:
        raise InputError(
            f"the region x {x}, y {y}, width {width}, height {height} does not lie in the slide of "
            f"{slide[0]} × {slide[1]} level-0 pixels; give one that does"
        )
    downsample = max(1.0, max(width, height) / LONGEST) if downsample is None else float(downsample)
    if not 1 <= downsample < math.inf:
        raise InputError(f"downsample is {downsample:g}; give level-0 pixels a pixel of the map, at least 1")
    window = Window(slide, x, y, width, height, downsample)
    _check_size(window)
    return window


def check_positions(positions: np.ndarray, slide: tuple[int, int]) -> None:
    """Every tile begins in the slide; it may reach over the right and lower border, where tools fill tiles up."""
    inside = np.isfinite(positions) & (positions >= 0) & (positions < np.array(slide))
    if not inside.all():
        row = int(np.argmin(inside.all(axis=1)))
        x, y = positions[row].tolist()
        raise InputError(
            f"tile {row} at ({x:g}, {y:g}) lies outside the slide of {slide[0]} × {slide[1]} level-0 pixels; "
            "are the positions those of another slide, or not in level-0 pixels?"
        )


def _check_size(window: Window) -> None:
    pixels = window.rows * window.columns
    if pixels > MOST_PIXELS:
        enough = math.ceil(math.sqrt(window.width * window.height / MOST_PIXELS) * 1.01)
        raise InputError(
            f"the picture would have {pixels / 1e6:,.0f} megapixels, and {MOST_PIXELS / 1e6:.0f} are the most; "
            f"take a downsample of at least {enough}, or a smaller region"
        )
