"""A raster of the values of tiles: each pixel is the mean of the tiles on it, weighted by the area they cover.

    m(p) = Σₖ cₖ(p) vₖ / Σₖ cₖ(p)        cₖ(p): area of pixel p that tile k covers

Overlapping tiles are averaged, and every tile contributes at any resolution of the map. Sums are computed without
subtractions, so that small weights keep their precision next to large ones.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from bagwise.arguments import check_real_number
from bagwise.errors import InputError
from bagwise.explain.heatmaps.scales import check_values
from bagwise.explain.heatmaps.window import Window, check_positions

ROUNDING = 1e-6  # overlaps below this share of the side of a pixel are rounding errors
VALUES_AT_ONCE = 1 << 20  # number of values added in one call
PIXELS_AT_ONCE = 1 << 23  # number of pixels per strip, which is summed in float64
TRUNCATE = 4.0  # standard deviations at which the Gaussian filter is truncated
MAX_BLUR = 100  # standard deviation, in pixels of the map


class Heatmap(NamedTuple):
    """A raster of values, and its position on the slide.

    Attributes
    ----------
    values : ndarray of shape (height, width)
        float32; NaN where there is no tile.
    origin : tuple of int
        x and y of the upper left corner in level-0 pixels.
    downsample : float
        Level-0 pixels per pixel, along one side.
    """

    values: np.ndarray
    origin: tuple[int, int]
    downsample: float


class _Coverage(NamedTuple):
    """Along one axis: the first pixel that each tile covers, and the covered shares of this and the next pixels."""

    first: np.ndarray  # (n,)
    shares: np.ndarray  # (n, maximum number of pixels that a tile covers)


def rasterise(
    values: np.ndarray, positions: np.ndarray, tile_size: float, window: Window, blur: float = 0.0
) -> Heatmap:
    """Rasterise the values of tiles in a window.

    Parameters
    ----------
    values : ndarray of shape (n_tiles,)
        One value per tile, scaled or raw.
    positions : ndarray of shape (n_tiles, 2)
        x and y of the upper left corner of each tile in level-0 pixels.
    tile_size : float
        Side of a tile in level-0 pixels.
    window : Window
        The part of the slide to rasterise.
    blur : float, default=0.0
        Standard deviation of a Gaussian blur in level-0 pixels; pixels without a tile remain NaN.

    Returns
    -------
    Heatmap
        The raster and its position.
    """
    values, positions = check_values(values), np.asarray(positions, dtype=np.float64)
    if positions.shape != (len(values), 2):
        raise InputError(
            f"positions must have shape ({len(values)}, 2), one x, y per tile for {len(values)} values; "
            f"got {positions.shape}"
        )
    check_real_number("tile size", tile_size, above=0)
    check_positions(positions, window.slide)
    deviation = _convert_blur(blur, window)
    margin = math.ceil(TRUNCATE * deviation)  # so that a blurred region is equal to that region of the blurred map
    starts = (positions - (window.x, window.y)) / window.downsample + margin
    shape = (window.rows + 2 * margin, window.columns + 2 * margin)
    pixels = _blur(_average_tiles(values, starts, tile_size / window.downsample, shape), deviation)
    inner = pixels[margin : margin + window.rows, margin : margin + window.columns]
    return Heatmap(values=inner, origin=(window.x, window.y), downsample=window.downsample)


def _convert_blur(blur: float, window: Window) -> float:
    """Return the standard deviation of the blur in pixels of the map."""
    deviation = check_real_number("blur", blur, minimum=0) / window.downsample
    if deviation > MAX_BLUR:
        raise InputError(
            f"a blur of {blur:g} level-0 pixels is {deviation:.0f} pixels of the map; the limit is {MAX_BLUR}. "
            f"Use a blur of at most {MAX_BLUR * window.downsample:g}, or a larger downsample"
        )
    return deviation


def _average_tiles(values: np.ndarray, starts: np.ndarray, side: float, shape: tuple[int, int]) -> np.ndarray:
    """Average tiles strip by strip; their corners and side are given in pixels of the map."""
    pixels = np.empty(shape, dtype=np.float32)
    height = max(1, PIXELS_AT_ONCE // shape[1])
    for top in range(0, shape[0], height):
        strip = pixels[top : top + height]
        strip[:] = _average_strip(values, starts - (0, top), side, strip.shape)
    return pixels


def _average_strip(values: np.ndarray, starts: np.ndarray, side: float, shape: tuple[int, int]) -> np.ndarray:
    touching = ((starts + side > 0) & (starts < (shape[1], shape[0]))).all(axis=1)
    across, down = (_compute_coverage(starts[touching, axis], side, shape[1 - axis]) for axis in (0, 1))
    sums, areas = np.zeros(shape), np.zeros(shape)
    for row in range(down.shares.shape[1]):
        _add_row(sums, areas, across, _Coverage(down.first + row, down.shares[:, row]), values[touching])
    return np.divide(sums, areas, out=np.full(shape, np.nan), where=areas > 0)


def _compute_coverage(starts: np.ndarray, side: float, length: int) -> _Coverage:
    first = np.maximum(np.floor(starts), 0)
    pixels = first[:, None] + np.arange(min(math.ceil(side) + 1, length))
    shared = np.minimum(starts[:, None] + side, pixels + 1) - np.maximum(starts[:, None], pixels)
    shared[(shared < ROUNDING) | (pixels >= length)] = 0
    return _Coverage(first.astype(np.intp), shared)


def _add_row(sums: np.ndarray, areas: np.ndarray, across: _Coverage, down: _Coverage, values: np.ndarray) -> None:
    """Add one row of pixels of every tile: the covered area, and that area times the value of the tile."""
    columns = np.arange(across.shares.shape[1])
    present = np.flatnonzero(down.shares)
    step = max(1, VALUES_AT_ONCE // len(columns))
    for start in range(0, len(present), step):
        tiles = present[start : start + step]
        shared = across.shares[tiles] * down.shares[tiles, None]
        pixels = np.minimum(across.first[tiles, None] + columns, sums.shape[1] - 1)  # shares outside are zero
        indices = (down.first[tiles, None] * sums.shape[1] + pixels).ravel()
        np.add.at(areas.reshape(-1), indices, shared.ravel())
        np.add.at(sums.reshape(-1), indices, (shared * values[tiles, None]).ravel())


def _blur(pixels: np.ndarray, deviation: float) -> np.ndarray:
    """Blur the map; only pixels with a value are averaged, so that it does not fade at the border of the tissue."""
    if deviation == 0:
        return pixels
    present = np.isfinite(pixels)
    sums, areas = (
        ndimage.gaussian_filter(layer, deviation, mode="constant", truncate=TRUNCATE)
        for layer in (np.where(present, pixels, 0), present.astype(np.float32))
    )
    return np.divide(sums, areas, out=np.full_like(pixels, np.nan), where=present)
