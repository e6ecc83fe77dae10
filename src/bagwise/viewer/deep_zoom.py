"""A picture or slide in tiles, at every zoom.

    level L has one pixel for each square of 2^(deepest − L) level-0 pixels; its tiles have TILE of them a side

A tile of a coarse level is read at once only if a level of the slide's pyramid makes that cheap; else it is put
together from the four tiles below it, so that no request needs more memory than a few tiles.
"""

import io
import math

import numpy as np
import PIL.Image

from bagwise.explain.heatmaps.grounds import Ground

TILE = 256
READ_AT_ONCE = 2048  # side of the largest square that is read for one tile
QUALITY = 90


def deepest_level(picture: Ground) -> int:
    """The level that has all pixels."""
    return math.ceil(math.log2(max(picture.width, picture.height, 2)))


def read_tile(picture: Ground, level: int, column: int, row: int) -> np.ndarray:
    """The pixels of a tile, cut off where the picture ends; a tile that is not there raises IndexError."""
    above = deepest_level(picture) - level
    if above < 0:
        raise IndexError(level)
    scale = 2**above
    width, height = math.ceil(picture.width / scale), math.ceil(picture.height / scale)
    left, top = column * TILE, row * TILE
    if left >= width or top >= height:
        raise IndexError((column, row))
    return _square(picture, scale, left, top)[: height - top, : width - left]


def _square(picture: Ground, scale: int, left: int, top: int) -> np.ndarray:
    """TILE × TILE pixels of a level; what lies beyond the picture is white."""
    nearest = max((factor for factor in picture.downsamples if factor <= scale), default=1.0)
    if TILE * scale / nearest <= READ_AT_ONCE:
        return picture.square(left * scale, top * scale, TILE * scale, TILE)
    below = np.full((2 * TILE, 2 * TILE, 3), 255, np.uint8)
    half = scale // 2
    for down in (0, TILE):
        for across in (0, TILE):
            x, y = 2 * left + across, 2 * top + down
            if x * half < picture.width and y * half < picture.height:
                below[down : down + TILE, across : across + TILE] = _square(picture, half, x, y)
    return np.asarray(PIL.Image.fromarray(below).reduce(2))


def jpeg(pixels: np.ndarray) -> bytes:
    """Pixels as a JPEG whose colours are not blurred."""
    return _encoded(pixels, "jpeg", quality=QUALITY, subsampling=0)


def png(pixels: np.ndarray) -> bytes:
    """Pixels as a PNG, every one as it is."""
    return _encoded(pixels, "png")


def _encoded(pixels: np.ndarray, form: str, **options: int) -> bytes:
    stream = io.BytesIO()
    PIL.Image.fromarray(pixels).save(stream, format=form, **options)
    return stream.getvalue()
