"""The pictures of a run: the image or slide of a bag in tiles, at every zoom level, and a picture of each instance.

    level L has one pixel per square of 2^(max_level − L) level-0 pixels; its tiles have TILE_SIDE pixels per side

A tile of a coarse level is read directly only if the slide's pyramid has a suitable level. Otherwise, it is
assembled from the four tiles of the next finer level, so that no request needs more memory than a few tiles.
"""

import io
import math
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL.Image

from bagwise.errors import InputError
from bagwise.explain import BoundedCache, find_pictures
from bagwise.explain.heatmaps import Background, PictureFolder, get_tile_grid, open_background, read_tile_picture
from bagwise.figures import is_image_shape, to_displayable
from bagwise.runs import OpenRun

TILE_SIDE = 256
READ_AT_ONCE = 2048  # maximum side of the square that is read for one tile, in pixels of the nearest level of the slide
JPEG_QUALITY = 90
MAX_CACHED_PICTURES = 4
MAX_CACHED_TILES = 1000  # about 20 kB each
MAX_CONCURRENT_READS = 4  # a tile may need about 12 MB before it is downsampled
MAX_CACHED_BAGS = 4


class BagPicture(NamedTuple):
    """The image or slide of a bag, if there is one, and the problem if it could not be opened."""

    background: Background | None
    problem: str | None


class RunPictures:
    """The pictures of a run; the most recent ones stay open, and slides are closed when they leave the cache.

    ``folder`` is a folder of pictures given by the user; if it is None, the images of the run's data are used.
    """

    def __init__(self, open_run: OpenRun, folder: PictureFolder | None = None) -> None:
        self._open_run = open_run
        self._given_folder = folder
        self._own_folder = BoundedCache(1, lambda: find_pictures(open_run.run))
        self._pictures = BoundedCache(MAX_CACHED_PICTURES, self._open_picture)
        self._tiles = BoundedCache(MAX_CACHED_TILES, self._encode_tile)
        self._reads = threading.BoundedSemaphore(MAX_CONCURRENT_READS)
        self._instances = BoundedCache(MAX_CACHED_BAGS, lambda bag: to_displayable(open_run.bag(bag).instances))

    def get_bag_picture(self, bag: int) -> BagPicture:
        """Return the image or slide of a bag."""
        return self._pictures.get(bag)

    def get_tile(self, bag: int, level: int, column: int, row: int) -> bytes:
        """Return a tile of the bag's picture as JPEG; raise IndexError if it does not exist."""
        return self._tiles.get(bag, level, column, row)

    def get_instance_picture(self, bag: int, instance: int) -> np.ndarray:
        """Return the pixels of an instance: the instance itself if it is an image, else its tile of the slide."""
        single = self._open_run.bag(bag)
        if is_image_shape(single.instance_shape):
            return self._instances.get(bag)[instance]
        background, problem = self.get_bag_picture(bag)
        if background is None:
            raise InputError(
                problem
                or "the instances of this bag are not images, and there is no picture of the bag; "
                "give the folder of the slides with --slides FOLDER"
            )
        return read_tile_picture(background, get_tile_grid(single), instance)

    def _encode_tile(self, bag: int, level: int, column: int, row: int) -> bytes:
        background = self.get_bag_picture(bag).background
        if background is None:
            raise IndexError(bag)
        with self._reads:
            return encode_jpeg(read_tile(background, level, column, row))

    def _open_picture(self, bag: int) -> BagPicture:
        try:
            path = self._find_path(self._open_run.run.predictions[bag]["bag"])
            return BagPicture(None if path is None else open_background(path), None)
        except InputError as error:
            return BagPicture(None, str(error))

    def _find_path(self, name: str) -> Path | None:
        if self._given_folder is not None:
            return self._given_folder.get(name)
        folder = self._own_folder.get()
        return None if folder is None else folder.find(name)


def compute_max_level(background: Background) -> int:
    """Return the number of the level with full resolution."""
    return math.ceil(math.log2(max(background.width, background.height, 2)))


def read_tile(background: Background, level: int, column: int, row: int) -> np.ndarray:
    """Read the pixels of a tile, clipped at the border; raise IndexError if it does not exist."""
    above = compute_max_level(background) - level
    if above < 0:
        raise IndexError(level)
    scale = 2**above
    width, height = math.ceil(background.width / scale), math.ceil(background.height / scale)
    left, top = column * TILE_SIDE, row * TILE_SIDE
    if left >= width or top >= height:
        raise IndexError((column, row))
    return _read_level_square(background, scale, left, top)[: height - top, : width - left]


def _read_level_square(background: Background, scale: int, left: int, top: int) -> np.ndarray:
    """Read TILE_SIDE × TILE_SIDE pixels of a level; pixels outside the picture are white."""
    nearest = max((factor for factor in background.downsamples if factor <= scale), default=1.0)
    if TILE_SIDE * scale / nearest <= READ_AT_ONCE:
        return background.read_square(left * scale, top * scale, TILE_SIDE * scale, TILE_SIDE)
    finer = np.full((2 * TILE_SIDE, 2 * TILE_SIDE, 3), 255, np.uint8)
    half = scale // 2
    for down in (0, TILE_SIDE):
        for across in (0, TILE_SIDE):
            x, y = 2 * left + across, 2 * top + down
            if x * half < background.width and y * half < background.height:
                square = _read_level_square(background, half, x, y)
                finer[down : down + TILE_SIDE, across : across + TILE_SIDE] = square
    return np.asarray(PIL.Image.fromarray(finer).reduce(2))


def encode_jpeg(pixels: np.ndarray) -> bytes:
    """Encode pixels as JPEG, without chroma subsampling."""
    return _encode(pixels, "jpeg", quality=JPEG_QUALITY, subsampling=0)


def encode_png(pixels: np.ndarray) -> bytes:
    """Encode pixels as PNG, without loss."""
    return _encode(pixels, "png")


def _encode(pixels: np.ndarray, file_format: str, **options: int) -> bytes:
    stream = io.BytesIO()
    PIL.Image.fromarray(pixels).save(stream, format=file_format, **options)
    return stream.getvalue()
