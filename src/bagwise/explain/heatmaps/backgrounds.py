"""The image under a map: a whole slide, read with OpenSlide, or a plain image.

A window is read in squares, so that a slide need not fit in memory. The corner of a square is rounded to whole pixels.
"""

import math
from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np

from bagwise.data.slides import IMAGE_SUFFIXES, SLIDE_SUFFIXES, Slide, read_image
from bagwise.errors import InputError
from bagwise.explain.heatmaps.window import Window

READ_AT_ONCE = 2048  # side of the largest square that is read, in pixels of the level
WHITE = 255


class Background(ABC):
    """An open image or slide, which is a context manager.

    Attributes
    ----------
    path : Path
        The file.
    width, height : int
        Size in level-0 pixels.
    downsamples : tuple of float
        Downsampling factor of each level.
    """

    path: Path
    width: int
    height: int
    downsamples: tuple[float, ...]

    def __enter__(self) -> "Background":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in level-0 pixels."""
        return self.width, self.height

    def downsample(self, level: int) -> float:
        """Return the number of level-0 pixels per pixel of a level, along one side.

        Parameters
        ----------
        level : int
            Index of the level.

        Returns
        -------
        float

        Raises
        ------
        InputError
            If there is no such level.
        """
        if not 0 <= level < len(self.downsamples):
            last = len(self.downsamples) - 1
            raise InputError(f"{self.path} has no level {level}; its levels are 0 to {last}")
        return self.downsamples[level]

    @abstractmethod
    def read_square(self, x: int, y: int, extent: int, size: int) -> np.ndarray:
        """Read a square region; pixels outside the image are white.

        Parameters
        ----------
        x, y : int
            Upper left corner in level-0 pixels.
        extent : int
            Side of the region in level-0 pixels.
        size : int
            Side of the result in pixels.

        Returns
        -------
        ndarray of uint8 of shape (size, size, 3)
        """

    def read_window(self, window: Window) -> np.ndarray:
        """Read a window.

        Parameters
        ----------
        window : Window
            The rectangle and its resolution.

        Returns
        -------
        ndarray of uint8 of shape (rows, columns, 3)
        """
        picture = np.empty((window.rows, window.columns, 3), dtype=np.uint8)
        side = min(self._choose_side(window.downsample), max(window.rows, window.columns))
        for top in range(0, window.rows, side):
            for left in range(0, window.columns, side):
                target = picture[top : top + side, left : left + side]
                x = round(window.x + left * window.downsample)
                y = round(window.y + top * window.downsample)
                square = self.read_square(x, y, round(side * window.downsample), side)
                target[:] = square[: target.shape[0], : target.shape[1]]
        return picture

    def _choose_side(self, downsample: float) -> int:
        """Return the side of the squares that are read, in pixels of the window."""
        level = max((factor for factor in self.downsamples if factor <= downsample), default=1.0)
        return max(1, math.floor(READ_AT_ONCE * level / downsample))


class SlideBackground(Background):
    """A whole slide."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._slide = Slide(path)
        self.width, self.height, self.downsamples = self._slide.width, self._slide.height, self._slide.downsamples

    def close(self) -> None:
        self._slide.__exit__()

    def read_square(self, x: int, y: int, extent: int, size: int) -> np.ndarray:
        return self._slide.read(x, y, extent, size)


class ImageBackground(Background):
    """A plain image, which has one level."""

    downsamples = (1.0,)

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pixels = read_image(path)
        self.height, self.width = self._pixels.shape[:2]

    def close(self) -> None:
        """Do nothing: the file was read completely when it was opened."""

    def read_square(self, x: int, y: int, extent: int, size: int) -> np.ndarray:
        import PIL.Image

        inside = self._pixels[y : y + extent, x : x + extent]
        square = np.full((extent, extent, 3), WHITE, dtype=np.uint8)
        square[: inside.shape[0], : inside.shape[1]] = inside
        return np.asarray(PIL.Image.fromarray(square).resize((size, size), PIL.Image.Resampling.BOX))


def open_background(path: Path) -> Background:
    """Open an image or slide; a TIFF is opened as a slide if OpenSlide recognises it.

    Parameters
    ----------
    path : Path
        File to open.

    Returns
    -------
    Background
        The open image or slide.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix in IMAGE_SUFFIXES and (suffix not in SLIDE_SUFFIXES or not _is_slide(path)):
        return ImageBackground(path)
    return SlideBackground(path)


def _is_slide(path: Path) -> bool:
    try:
        import openslide
    except ImportError:
        return False
    return path.is_file() and openslide.OpenSlide.detect_format(path) is not None
