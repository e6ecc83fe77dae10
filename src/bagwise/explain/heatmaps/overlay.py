"""Overlay of a map on an image, and patches painted at their positions.

    overlay   pixel = (1 − opacity) · image + opacity · colour        where there is a tile; else pixel = image
    patches   pixel = factor · patch

The factors in panels (b) to (e) of the figures of Ilse et al. 2018, with v′ = (v − min v)/(max v − min v), are:

    (b) 1        (c) 1 for a key instance, else 0        (d) a′, the weight        (e) s′, the score
"""

import numpy as np

from bagwise.errors import InputError
from bagwise.explain.heatmaps.backgrounds import WHITE
from bagwise.explain.heatmaps.raster import Heatmap
from bagwise.explain.heatmaps.scales import ColourMap, apply_colours
from bagwise.explain.heatmaps.window import check_positions

OPACITY = 0.5
PIXELS_AT_ONCE = 1 << 21


def overlay_map(
    image: np.ndarray,
    heatmap: Heatmap,
    colours: ColourMap,
    opacity: float = OPACITY,
    threshold: float | None = None,
) -> np.ndarray:
    """Overlay a map of scaled values on an image.

    Parameters
    ----------
    image : ndarray of shape (height, width, 3)
        The same window of the image as that of the map, as uint8.
    heatmap : Heatmap
        Scaled values; NaN where there is no tile.
    colours : ColourMap
        The colour map.
    opacity : float, default=0.5
        Opacity of the map, from 0 to 1.
    threshold : float or None, default=None
        Smallest scaled value that is shown; for signed values, the smallest magnitude. None shows all values.

    Returns
    -------
    ndarray of shape (height, width, 3)
        The picture, as uint8.
    """
    if image.shape != (*heatmap.values.shape, 3):
        raise InputError(f"the image has shape {image.shape}, but the map has shape {heatmap.values.shape}")
    if not 0 <= opacity <= 1:
        raise InputError(f"opacity must be between 0 (image only) and 1 (map only), got {opacity}")
    result = image.copy()
    step = max(1, PIXELS_AT_ONCE // image.shape[1])
    for top in range(0, len(image), step):
        rows = slice(top, top + step)
        _blend(result[rows], heatmap.values[rows], colours, opacity, threshold)
    return result


def _blend(pixels: np.ndarray, values: np.ndarray, colours: ColourMap, opacity: float, threshold: float | None) -> None:
    """Blend some rows in place."""
    visible = np.isfinite(values)
    if threshold is not None:
        visible &= np.abs(np.nan_to_num(values)) >= threshold
    pixels[visible] = np.rint((1 - opacity) * pixels[visible] + opacity * apply_colours(values[visible], colours))


def paint_patches(
    patches: np.ndarray, positions: np.ndarray, factors: np.ndarray, width: int, height: int
) -> np.ndarray:
    """Paint patches, multiplied by their factors, on a black background.

    Where patches overlap, the patch with the largest factor is visible.

    Parameters
    ----------
    patches : ndarray of shape (n, side, side, 3)
        The patches, as uint8.
    positions : ndarray of shape (n, 2)
        x and y of the upper left corner of each patch, rounded to whole pixels.
    factors : ndarray of shape (n,)
        Factors from 0 to 1.
    width, height : int
        Size of the picture.

    Returns
    -------
    ndarray of shape (height, width, 3)
        The picture, as uint8.
    """
    canvas = np.zeros((height, width, 3), np.uint8)
    corners = np.rint(positions).astype(np.int64)
    for patch in np.argsort(factors, kind="stable"):
        x, y = corners[patch]
        target = canvas[y : y + patches.shape[1], x : x + patches.shape[2]]
        target[:] = np.round(patches[patch] * float(factors[patch]))[: target.shape[0], : target.shape[1]]
    return canvas


def cut_patches(image: np.ndarray, positions: np.ndarray, side: int) -> np.ndarray:
    """Cut squares from an image; pixels outside the image are white.

    Parameters
    ----------
    image : ndarray of shape (height, width, 3)
        The image.
    positions : ndarray of shape (n, 2)
        x and y of the upper left corner of each square, rounded to whole pixels.
    side : int
        Side of the squares in pixels.

    Returns
    -------
    ndarray of shape (n, side, side, 3)
        The squares.

    Examples
    --------
    >>> cut_patches(np.arange(48).reshape(4, 4, 3), np.array([[2, 1]]), side=1).tolist()
    [[[[18, 19, 20]]]]
    """
    check_positions(positions, (image.shape[1], image.shape[0]))
    corners = np.rint(positions).astype(np.int64)
    padded = np.pad(image, ((0, side), (0, side), (0, 0)), constant_values=WHITE)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(0, 1))
    return np.moveaxis(windows[corners[:, 1], corners[:, 0]], 1, -1)
