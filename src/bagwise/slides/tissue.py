"""Where tissue lies on a slide: Otsu's threshold on the saturation of an overview (Otsu 1979)."""

import numpy as np
from jaxtyping import Bool, Float, UInt8
from scipy import ndimage

BINS = 256
LOWEST, HIGHEST = 0.04, 0.12  # glass stays below, stained tissue above, whatever share of the picture is tissue
DARK = 40  # brightness below which colour is noise: the black around a scan
SMOOTHING = 5


def find_tissue(
    picture: UInt8[np.ndarray, "height width 3"], smallest_region: float = 0, smallest_hole: float = 0
) -> Bool[np.ndarray, "height width"]:
    """The pixels of an overview that show tissue; regions and holes of fewer pixels than given do not count.

    Otsu finds the best cut even where there is nothing to cut: on blank glass, or on a picture full of tissue. The
    threshold is therefore held within the range where glass and stained tissue part.
    """
    saturation = ndimage.median_filter(_saturation(picture), SMOOTHING)
    mask = saturation > np.clip(otsu(saturation), LOWEST, HIGHEST)
    mask = ~_without_small(~_without_small(mask, smallest_region), smallest_hole)
    return np.asarray(mask, dtype=bool)


def otsu(values: Float[np.ndarray, "..."]) -> float:
    """The threshold between 0 and 1 that parts values into the two classes furthest apart.

    >>> round(otsu(np.array([0.1, 0.1, 0.1, 0.8, 0.9])), 1) in (0.1, 0.2)
    True
    """
    counts, edges = np.histogram(values, bins=BINS, range=(0, 1))
    centres = (edges[:-1] + edges[1:]) / 2
    below, total = np.cumsum(counts), counts.sum()
    sums = np.cumsum(counts * centres)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (sums[-1] * below - sums * total) ** 2 / (below * (total - below))
    return float(edges[1:][np.nanargmax(between)]) if np.isfinite(between).any() else 1.0


def _saturation(picture: np.ndarray) -> np.ndarray:
    """HSV's saturation, zero where it is dark."""
    brightness = picture.max(axis=2).astype(np.float32)
    chroma = brightness - picture.min(axis=2)
    return np.where(brightness < DARK, 0, chroma / np.maximum(brightness, 1))


def _without_small(mask: np.ndarray, smallest: float) -> np.ndarray:
    regions, count = ndimage.label(mask)
    sizes = np.bincount(regions.ravel(), minlength=count + 1)
    keep = sizes >= smallest
    keep[0] = False  # the ground
    return keep[regions]
