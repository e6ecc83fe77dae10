"""Tissue and tiles of a slide: a grid at a given resolution, reduced to the tiles with enough tissue.

    extent = size · mpp / slide's mpp        side of a tile in level-0 pixels, a whole number
    step   = extent · (size − overlap) / size

Positions are (x, y) of the upper left corner of a tile in level-0 pixels; every tile is inside the slide. Tissue is
found with Otsu's threshold on the saturation of an overview (Otsu 1979).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from scipy import ndimage

from bagwise.data.slides.slide import MPP_RANGE, Slide, are_same_resolution, is_plausible_mpp
from bagwise.errors import InputError

MAX_TILE_SIZE = 1 << 14  # side in pixels
MAX_TILES = 20_000_000  # tiles of a grid; a whole slide at the highest resolution has a million
MASK_PIXELS_PER_TILE = 32  # side of a tile on the mask
MAX_MASK_SIDE = 4096  # slides with very many tiles have fewer mask pixels per tile
HOLE_SHARE = 1 / 4  # holes up to this share of the smallest region are filled; larger gaps are not tissue

HISTOGRAM_BINS = 256
THRESHOLD_RANGE = (0.04, 0.12)  # glass is below, stained tissue above, however much tissue there is
DARK = 40  # brightness below which colour is noise, as in the black area around a scan
MEDIAN_FILTER_SIZE = 5


class TilingSettings(NamedTuple):
    """Settings for tiling a slide; the resolution is given as either ``mpp`` or ``level``.

    Attributes
    ----------
    size : int, default=256
        Side of a tile in pixels.
    mpp : float or None, default=0.5
        Micrometres per pixel of the tiles.
    level : int or None, default=None
        Pyramid level from which tiles are read.
    overlap : int, default=0
        Overlap of adjacent tiles in pixels.
    tissue : float, default=0.5
        Smallest share of tissue in a tile; 0 keeps every tile.
    smallest : float, default=0.5
        Regions of tissue smaller than this number of tiles are dropped; holes smaller than a quarter of it are filled.
    slide_mpp : float or None, default=None
        Micrometres per pixel at level 0, for slides whose files do not contain it.
    """

    size: int = 256
    mpp: float | None = 0.5
    level: int | None = None
    overlap: int = 0
    tissue: float = 0.5
    smallest: float = 0.5
    slide_mpp: float | None = None


class SlideTiles(NamedTuple):
    """The tiles of a slide, and the tissue mask with which they were selected.

    Attributes
    ----------
    positions : ndarray of shape (n, 2)
        x and y of the upper left corner of each tile, in level-0 pixels.
    extent : int
        Side of a tile in level-0 pixels.
    mask : ndarray of bool of shape (height, width)
        True where there is tissue.
    scale : int
        Level-0 pixels per mask pixel, along one side.
    """

    positions: np.ndarray
    extent: int
    mask: np.ndarray
    scale: int


def tile_slide(slide: Slide, settings: TilingSettings) -> SlideTiles:
    """Find the tissue of a slide and return the tiles that contain enough of it."""
    check_tiling_settings(settings)
    extent = compute_tile_extent(slide, settings)
    step = extent * (1 - settings.overlap / settings.size)
    if (n_tiles := slide.width / step * slide.height / step) > MAX_TILES:
        raise InputError(
            f"{slide.path} would have {n_tiles:.0f} tiles, more than {MAX_TILES}; pass a larger --size or a smaller "
            "--overlap"
        )
    scale = max(1, extent // MASK_PIXELS_PER_TILE, -(-max(slide.width, slide.height) // MAX_MASK_SIDE))
    region = settings.smallest * (extent / scale) ** 2
    mask = find_tissue(slide.overview(scale), region, region * HOLE_SHARE)
    grid = make_grid_positions(slide.width, slide.height, extent, step)
    selected = measure_tissue(mask, grid, extent, scale) >= settings.tissue
    return SlideTiles(positions=grid[selected], extent=extent, mask=mask, scale=scale)


def check_tiling_settings(settings: TilingSettings) -> None:
    """Raise an error for invalid settings, before any slide is opened.

    Parameters
    ----------
    settings : TilingSettings
        The settings to check.

    Raises
    ------
    InputError
        If a setting is out of range, or if both or neither of ``mpp`` and ``level`` are given.
    """
    if (settings.mpp is None) == (settings.level is None):
        raise InputError(
            "tiles need one resolution: pass --mpp (micrometres per pixel, e.g. --mpp 0.5) or --level, and not both"
        )
    if not 1 <= settings.size <= MAX_TILE_SIZE:
        raise InputError(f"size must be from 1 to {MAX_TILE_SIZE} pixels, got {settings.size}; pass e.g. --size 256")
    if not 0 <= settings.overlap < settings.size:
        raise InputError(
            f"overlap must be at least 0 and below the size of a tile, {settings.size}, got {settings.overlap}; pass "
            "e.g. --overlap 0"
        )
    if not 0 <= settings.tissue <= 1:
        raise InputError(
            f"tissue must be the smallest share of a tile that is tissue, from 0 to 1, got {settings.tissue}; pass "
            "e.g. --tissue 0.5"
        )
    if not 0 <= settings.smallest < np.inf:
        raise InputError(
            f"smallest must be the size of the smallest region of tissue in tiles, at least 0, got "
            f"{settings.smallest}; pass e.g. --smallest 0.5"
        )
    for option, value in (("mpp", settings.mpp), ("slide-mpp", settings.slide_mpp)):
        if value is not None and not is_plausible_mpp(value):
            raise InputError(
                f"{option} must be micrometres per pixel, from {MPP_RANGE[0]:g} to {MPP_RANGE[1]:g}, got {value}; pass "
                f"e.g. --{option} 0.5"
            )


def compute_tile_extent(slide: Slide, settings: TilingSettings) -> int:
    """Return the side of a tile in level-0 pixels."""
    downsample = _compute_downsample(slide, settings)
    extent = max(1, round(settings.size * downsample))
    if min(slide.width, slide.height) < extent:
        raise InputError(
            f"{slide.path} has {slide.width}×{slide.height} pixels, fewer than a tile of {extent}×{extent}; "
            "pass a smaller --size or a finer --mpp"
        )
    return extent


def _compute_downsample(slide: Slide, settings: TilingSettings) -> float:
    """Return the level-0 pixels per pixel of a tile; the factor of a level if it is close, to avoid resampling."""
    if settings.level is not None:
        if not 0 <= settings.level < len(slide.downsamples):
            last = len(slide.downsamples) - 1
            raise InputError(
                f"{slide.path} has no level {settings.level}, only levels 0 to {last}; pass e.g. --level {last}"
            )
        return slide.downsamples[settings.level]
    slide_mpp = slide.require_mpp()
    wanted = (settings.mpp or 0) / slide_mpp
    if wanted < 1 and not are_same_resolution(wanted, 1):
        raise InputError(
            f"{slide.path} has {slide_mpp:.3g} micrometres per pixel, so --mpp {settings.mpp:.3g} would need "
            f"upsampling; pass --mpp {slide_mpp:.3g} or more"
        )
    return next((factor for factor in slide.downsamples if are_same_resolution(factor, wanted)), wanted)


def make_grid_positions(width: int, height: int, extent: int, step: float) -> Int[np.ndarray, "n 2"]:
    """Return the positions of the tiles that are completely inside a slide, row by row.

    >>> make_grid_positions(10, 6, extent=4, step=3.0).tolist()
    [[0, 0], [3, 0], [6, 0]]
    """
    columns, rows = (np.rint(np.arange(0, side - extent + 0.5, step)).astype(np.int64) for side in (width, height))
    x, y = np.meshgrid(columns[columns <= width - extent], rows[rows <= height - extent])
    return np.stack([x.ravel(), y.ravel()], axis=1)


def measure_tissue(
    mask: Bool[np.ndarray, "height width"], corners: Int[np.ndarray, "n 2"], extent: int, scale: int
) -> Float[np.ndarray, " n"]:
    """Return the share of tissue in each tile, computed from cumulative sums over the mask (an integral image)."""
    sums = np.pad(mask.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    limits = np.array([mask.shape[1], mask.shape[0]])
    first = np.minimum(np.rint(corners / scale).astype(np.int64), limits - 1)
    last = np.clip(np.rint((corners + extent) / scale).astype(np.int64), first + 1, limits)
    (left, top), (right, bottom) = first.T, last.T
    inside = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
    return inside / ((right - left) * (bottom - top))


def find_tissue(
    picture: UInt8[np.ndarray, "height width 3"], smallest_region: float = 0, smallest_hole: float = 0
) -> Bool[np.ndarray, "height width"]:
    """Return the tissue mask of an overview; regions and holes below the given numbers of pixels are removed.

    Otsu's method returns a threshold even if there is only one class, such as blank glass or only tissue. The threshold
    is therefore clipped to the range that separates glass from stained tissue.
    """
    saturation = ndimage.median_filter(_compute_saturation(picture), MEDIAN_FILTER_SIZE)
    mask = saturation > np.clip(compute_otsu_threshold(saturation), *THRESHOLD_RANGE)
    mask = ~_remove_small(~_remove_small(mask, smallest_region), smallest_hole)
    return np.asarray(mask, dtype=bool)


def compute_otsu_threshold(values: Float[np.ndarray, "..."]) -> float:
    """Return the threshold between 0 and 1 that maximises the variance between the two classes of values.

    >>> round(compute_otsu_threshold(np.array([0.1, 0.1, 0.1, 0.8, 0.9])), 1) in (0.1, 0.2)
    True
    """
    counts, edges = np.histogram(values, bins=HISTOGRAM_BINS, range=(0, 1))
    centres = (edges[:-1] + edges[1:]) / 2
    below, total = np.cumsum(counts), counts.sum()
    sums = np.cumsum(counts * centres)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (sums[-1] * below - sums * total) ** 2 / (below * (total - below))
    return float(edges[1:][np.nanargmax(between)]) if np.isfinite(between).any() else 1.0


def _compute_saturation(picture: np.ndarray) -> np.ndarray:
    """Compute the saturation (HSV); it is zero where the picture is dark."""
    brightness = picture.max(axis=2).astype(np.float32)
    chroma = brightness - picture.min(axis=2)
    return np.where(brightness < DARK, 0, chroma / np.maximum(brightness, 1))


def _remove_small(mask: np.ndarray, smallest: float) -> np.ndarray:
    regions, count = ndimage.label(mask)
    sizes = np.bincount(regions.ravel(), minlength=count + 1)
    keep = sizes >= smallest
    keep[0] = False  # the background
    return keep[regions]
