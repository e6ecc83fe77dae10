"""Tiles of a slide: a grid at a wanted resolution, kept where enough of a tile is tissue.

    extent = size · mpp / slide's mpp        a tile's side in level-0 pixels, a whole number
    step   = extent · (size − overlap) / size

Positions are (x, y) of a tile's upper left corner in level-0 pixels; every tile lies inside the slide.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from bagwise.errors import InputError
from bagwise.slides.slide import Slide, is_plausible, near
from bagwise.slides.tissue import find_tissue

MASK_PIXELS_A_TILE = 32  # side of a tile on the mask
HOLE = 1 / 4  # holes are filled up to this share of the smallest region: large gaps are not tissue
LARGEST_SIZE = 1 << 14  # pixels of a tile's side
MOST_TILES = 20_000_000  # of a grid; the finest scan of a whole slide has a million
LARGEST_MASK = 4096  # longest side; slides with very many tiles get fewer mask pixels a tile


class Wish(NamedTuple):
    """What tiles are wanted: ``size`` pixels at ``mpp`` micrometres a pixel, or in the pixels of a ``level``.

    overlap : pixels that neighbours share
    tissue : the least share of a tile that must be tissue; 0 keeps every tile
    smallest : regions of tissue smaller than so many tiles are dropped, holes up to a quarter of that are filled
    slide_mpp : micrometres a pixel at level 0, for slides that do not state it
    """

    size: int = 256
    mpp: float | None = 0.5
    level: int | None = None
    overlap: int = 0
    tissue: float = 0.5
    smallest: float = 0.5
    slide_mpp: float | None = None


class Tiles(NamedTuple):
    """The kept tiles of a slide, and the mask they were kept by (``scale`` level-0 pixels a mask pixel)."""

    positions: np.ndarray  # (n, 2) x and y in level-0 pixels
    extent: int  # side in level-0 pixels
    mask: np.ndarray
    scale: int


def tile(slide: Slide, wish: Wish) -> Tiles:
    """Find the tissue of a slide and the tiles on it."""
    check(wish)
    extent = tile_extent(slide, wish)
    step = extent * (1 - wish.overlap / wish.size)
    if (number := slide.width / step * slide.height / step) > MOST_TILES:
        raise InputError(f"{slide.path} would have {number:.0f} tiles; pass a larger --size or a smaller --overlap")
    scale = max(1, extent // MASK_PIXELS_A_TILE, -(-max(slide.width, slide.height) // LARGEST_MASK))
    region = wish.smallest * (extent / scale) ** 2
    mask = find_tissue(slide.overview(scale), region, region * HOLE)
    grid = positions(slide.width, slide.height, extent, step)
    return Tiles(grid[tissue_share(mask, grid, extent, scale) >= wish.tissue], extent, mask, scale)


def check(wish: Wish) -> None:
    """Refuse what cannot be wanted, before any slide is opened."""
    if (wish.mpp is None) == (wish.level is None):
        raise InputError("tiles need a resolution: pass --mpp (micrometres a pixel) or --level, and not both")
    if wish.size > LARGEST_SIZE:
        raise InputError(f"size is {wish.size}; a tile has at most {LARGEST_SIZE} pixels a side")
    if wish.size < 1 or not 0 <= wish.overlap < wish.size:
        raise InputError(f"size is {wish.size}, overlap {wish.overlap}; an overlap is at least 0 and below the size")
    if not 0 <= wish.tissue <= 1:
        raise InputError(f"tissue is {wish.tissue}; give the least share of a tile, from 0 to 1")
    if not 0 <= wish.smallest < np.inf:
        raise InputError(f"smallest is {wish.smallest}; give the tiles that a region of tissue must have, 0 or more")
    for name, value in (("mpp", wish.mpp), ("slide-mpp", wish.slide_mpp)):
        if value is not None and not is_plausible(value):
            raise InputError(f"{name} is {value}; give micrometres a pixel, such as 0.5")


def tile_extent(slide: Slide, wish: Wish) -> int:
    """The side of a tile in level-0 pixels."""
    downsample = _downsample(slide, wish)
    extent = max(1, round(wish.size * downsample))
    if min(slide.width, slide.height) < extent:
        raise InputError(
            f"{slide.path} has {slide.width}×{slide.height} pixels, a tile {extent}×{extent} of them; "
            "pass a smaller --size or a finer --mpp"
        )
    return extent


def positions(width: int, height: int, extent: int, step: float) -> Int[np.ndarray, "n 2"]:
    """The grid of whole tiles inside a slide, row by row.

    >>> positions(10, 6, extent=4, step=3.0).tolist()
    [[0, 0], [3, 0], [6, 0]]
    """
    columns, rows = (np.rint(np.arange(0, side - extent + 0.5, step)).astype(np.int64) for side in (width, height))
    x, y = np.meshgrid(columns[columns <= width - extent], rows[rows <= height - extent])
    return np.stack([x.ravel(), y.ravel()], axis=1)


def tissue_share(
    mask: Bool[np.ndarray, "height width"], corners: Int[np.ndarray, "n 2"], extent: int, scale: int
) -> Float[np.ndarray, " n"]:
    """The share of each tile that is tissue, by sums over the mask from its corner (an integral image)."""
    sums = np.pad(mask.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    limits = np.array([mask.shape[1], mask.shape[0]])
    first = np.minimum(np.rint(corners / scale).astype(np.int64), limits - 1)
    last = np.clip(np.rint((corners + extent) / scale).astype(np.int64), first + 1, limits)
    (left, top), (right, bottom) = first.T, last.T
    inside = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
    return inside / ((right - left) * (bottom - top))


def _downsample(slide: Slide, wish: Wish) -> float:
    """Level-0 pixels a tile's pixel; a level's own value where that is near, so that nothing is resampled."""
    if wish.level is not None:
        if not 0 <= wish.level < len(slide.downsamples):
            last = len(slide.downsamples) - 1
            raise InputError(f"{slide.path} has no level {wish.level}; its levels are 0 to {last}")
        return slide.downsamples[wish.level]
    wanted = (wish.mpp or 0) / slide.known_mpp()
    if wanted < 1 and not near(wanted, 1):
        raise InputError(
            f"{slide.path} has {slide.known_mpp():.3g} micrometres a pixel; {wish.mpp:.3g} would invent pixels: "
            f"pass --mpp {slide.known_mpp():.3g} or more"
        )
    return next((factor for factor in slide.downsamples if near(factor, wanted)), wanted)
