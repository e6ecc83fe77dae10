"""What a map lies on: a whole slide, read through OpenSlide level by level, or a plain image.

A window is read in squares, so that no slide must fit into memory; a square between two pixels begins at the nearest.
"""

import math
from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np

from bagwise.errors import InputError
from bagwise.explain.heatmaps.window import Window
from bagwise.slides import images, slide
from bagwise.slides.picture_files import read_image

READ_AT_ONCE = 2048  # side of the largest square read from a level
WHITE = 255


class Ground(ABC):
    """A picture with level-0 pixels; use it in a ``with`` block."""

    path: Path
    width: int
    height: int
    downsamples: tuple[float, ...]  # of its levels

    def __enter__(self) -> "Ground":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Let go of the file."""

    @property
    def size(self) -> tuple[int, int]:
        return self.width, self.height

    def downsample(self, level: int) -> float:
        """Level-0 pixels a pixel of a level."""
        if not 0 <= level < len(self.downsamples):
            last = len(self.downsamples) - 1
            raise InputError(f"{self.path} has no level {level}; its levels are 0 to {last}")
        return self.downsamples[level]

    @abstractmethod
    def square(self, x: int, y: int, extent: int, size: int) -> np.ndarray:
        """The square of ``extent`` level-0 pixels at (x, y) as (size, size, 3) bytes; beyond the border it is white."""

    def read(self, window: Window) -> np.ndarray:
        """The (rows, columns, 3) bytes of a window."""
        picture = np.empty((window.rows, window.columns, 3), dtype=np.uint8)
        side = min(self._side(window.downsample), max(window.rows, window.columns))
        for top in range(0, window.rows, side):
            for left in range(0, window.columns, side):
                place = picture[top : top + side, left : left + side]
                x, y = (
                    round(start + first * window.downsample) for start, first in ((window.x, left), (window.y, top))
                )
                piece = self.square(x, y, round(side * window.downsample), side)
                place[:] = piece[: place.shape[0], : place.shape[1]]
        return picture

    def _side(self, downsample: float) -> int:
        """Pixels of the window that are made of one square of a level."""
        level = max((factor for factor in self.downsamples if factor <= downsample), default=1.0)
        return max(1, math.floor(READ_AT_ONCE * level / downsample))


class SlideGround(Ground):
    """A whole slide."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._slide = slide.Slide(path)
        self.width, self.height, self.downsamples = self._slide.width, self._slide.height, self._slide.downsamples

    def close(self) -> None:
        self._slide.__exit__()

    def square(self, x: int, y: int, extent: int, size: int) -> np.ndarray:
        return self._slide.read(x, y, extent, size)


class ImageGround(Ground):
    """A plain image; it has one level."""

    downsamples = (1.0,)

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pixels = read_image(path)
        self.height, self.width = self._pixels.shape[:2]

    def close(self) -> None:
        """Nothing to let go of: the file was read at once."""

    def square(self, x: int, y: int, extent: int, size: int) -> np.ndarray:
        import PIL.Image

        found = self._pixels[y : y + extent, x : x + extent]
        piece = np.full((extent, extent, 3), WHITE, dtype=np.uint8)
        piece[: found.shape[0], : found.shape[1]] = found
        return np.asarray(PIL.Image.fromarray(piece).resize((size, size), PIL.Image.Resampling.BOX))


def open_ground(path: Path) -> Ground:
    """Open a picture as what it is: a TIFF may be either, and is a slide if OpenSlide knows it as one."""
    suffix = path.suffix.lower()
    if suffix in images.SUFFIXES and (suffix not in slide.SUFFIXES or not _is_slide(path)):
        return ImageGround(path)
    return SlideGround(path)


def _is_slide(path: Path) -> bool:
    try:
        import openslide
    except ImportError:
        return False
    return path.is_file() and openslide.OpenSlide.detect_format(path) is not None
