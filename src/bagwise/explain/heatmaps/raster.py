"""Values of tiles → a map of pixels, each the mean of the tiles on it, weighted by how much of it they cover.

    m(p) = Σₖ cₖ(p) vₖ / Σₖ cₖ(p)        cₖ(p): the area that tile k shares with pixel p

So tiles that overlap are averaged, and no tile is lost, however coarse the map. Sums are made without differences:
the least weight beside the greatest keeps its digits.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from bagwise.errors import InputError
from bagwise.explain.heatmaps.scales import checked_values
from bagwise.explain.heatmaps.window import Window, check_positions
from bagwise.quantities import real_number

ROUNDING = 1e-6  # a share of a pixel's side below this is a rounding error, not a tile
PIECE = 1 << 20  # numbers added at once
STRIP = 1 << 23  # pixels summed at once, in double precision
REACH = 4.0  # standard deviations to which a blur is computed
WIDEST_BLUR = 100  # pixels of the map


class Heatmap(NamedTuple):
    """A map of pixels, and where it lies."""

    values: np.ndarray  # (height, width) float32; NaN where no tile lies
    origin: tuple[int, int]  # x and y of its upper left corner in level-0 pixels
    downsample: float  # level-0 pixels a pixel of the map


class _Shares(NamedTuple):
    """Along one axis: the first pixel that each tile touches, and which share of it and of the next ones it covers."""

    first: np.ndarray  # (n,)
    shares: np.ndarray  # (n, most pixels a tile touches)


def rasterise(
    values: np.ndarray, positions: np.ndarray, tile_size: float, window: Window, blur: float = 0.0
) -> Heatmap:
    """The map of tiles in a window.

    values : (n,) one number a tile, scaled or raw
    positions : (n, 2) x and y of each tile's upper left corner in level-0 pixels
    tile_size : side of a tile in level-0 pixels
    blur : standard deviation of a Gaussian in level-0 pixels; where no tile lies, none appears
    """
    values, positions = checked_values(values), np.asarray(positions, dtype=np.float64)
    if positions.shape != (len(values), 2):
        raise InputError(
            f"values have shape {values.shape} and positions {positions.shape}; give one value and one x, y a tile"
        )
    real_number("tile size", tile_size, above=0)
    check_positions(positions, window.slide)
    deviation = _deviation(blur, window)
    margin = math.ceil(REACH * deviation)  # a map blurred in a region is that region of the map blurred as a whole
    starts = (positions - (window.x, window.y)) / window.downsample + margin
    shape = (window.rows + 2 * margin, window.columns + 2 * margin)
    pixels = _blurred(_pixels(values, starts, tile_size / window.downsample, shape), deviation)
    inner = pixels[margin : margin + window.rows, margin : margin + window.columns]
    return Heatmap(inner, (window.x, window.y), window.downsample)


def _deviation(blur: float, window: Window) -> float:
    """Of the blur, in pixels of the map."""
    deviation = real_number("blur", blur, least=0) / window.downsample
    if deviation > WIDEST_BLUR:
        raise InputError(
            f"a blur of {blur:g} level-0 pixels is {deviation:.0f} pixels of the map, and {WIDEST_BLUR} are the most; "
            f"take at most {WIDEST_BLUR * window.downsample:g}, or a greater downsample"
        )
    return deviation


def _pixels(values: np.ndarray, starts: np.ndarray, side: float, shape: tuple[int, int]) -> np.ndarray:
    """The map of squares whose corners and side are given in its pixels, made strip by strip."""
    pixels = np.empty(shape, dtype=np.float32)
    height = max(1, STRIP // shape[1])
    for top in range(0, shape[0], height):
        strip = pixels[top : top + height]
        strip[:] = _means(values, starts - (0, top), side, strip.shape)
    return pixels


def _means(values: np.ndarray, starts: np.ndarray, side: float, shape: tuple[int, int]) -> np.ndarray:
    touching = ((starts + side > 0) & (starts < (shape[1], shape[0]))).all(axis=1)
    across, down = (_shares(starts[touching, axis], side, shape[1 - axis]) for axis in (0, 1))
    sums, areas = np.zeros(shape), np.zeros(shape)
    for row in range(down.shares.shape[1]):
        _add_row(sums, areas, across, _Shares(down.first + row, down.shares[:, row]), values[touching])
    return np.divide(sums, areas, out=np.full(shape, np.nan), where=areas > 0)


def _shares(starts: np.ndarray, side: float, length: int) -> _Shares:
    first = np.maximum(np.floor(starts), 0)
    pixels = first[:, None] + np.arange(min(math.ceil(side) + 1, length))
    shared = np.minimum(starts[:, None] + side, pixels + 1) - np.maximum(starts[:, None], pixels)
    shared[(shared < ROUNDING) | (pixels >= length)] = 0
    return _Shares(first.astype(np.intp), shared)


def _add_row(sums: np.ndarray, areas: np.ndarray, across: _Shares, down: _Shares, values: np.ndarray) -> None:
    """Add one row of pixels of every tile: the area that it covers, and that times its value."""
    columns = np.arange(across.shares.shape[1])
    there = np.flatnonzero(down.shares)
    step = max(1, PIECE // len(columns))
    for start in range(0, len(there), step):
        some = there[start : start + step]
        shared = across.shares[some] * down.shares[some, None]
        pixels = np.minimum(across.first[some, None] + columns, sums.shape[1] - 1)  # what lies beyond has no share
        places = (down.first[some, None] * sums.shape[1] + pixels).ravel()
        np.add.at(areas.reshape(-1), places, shared.ravel())
        np.add.at(sums.reshape(-1), places, (shared * values[some, None]).ravel())


def _blurred(pixels: np.ndarray, deviation: float) -> np.ndarray:
    """A mean over the neighbours that have a value, so that the border of the tissue does not fade."""
    if deviation == 0:
        return pixels
    there = np.isfinite(pixels)
    sums, areas = (
        ndimage.gaussian_filter(layer, deviation, mode="constant", truncate=REACH)
        for layer in (np.where(there, pixels, 0), there.astype(np.float32))
    )
    return np.divide(sums, areas, out=np.full_like(pixels, np.nan), where=there)
