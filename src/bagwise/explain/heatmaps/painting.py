"""Patches painted where they were cut from, each times a factor: panels (b) to (e) of the figures of Ilse et al. 2018.

(b) 1        (c) 1 if it is a key instance, else 0        (d) a′        (e) s′        v′ = (v − min v)/(max v − min v)
"""

import numpy as np

from bagwise.explain.heatmaps.grounds import WHITE
from bagwise.explain.heatmaps.window import check_positions


def paint(patches: np.ndarray, positions: np.ndarray, factors: np.ndarray, width: int, height: int) -> np.ndarray:
    """Every patch times its factor on black; where patches overlap, the greatest factor is seen.

    patches : (n, side, side, 3) bytes
    positions : (n, 2) whole numbers: x and y of each patch's upper left corner
    factors : (n,) from 0 to 1
    """
    canvas = np.zeros((height, width, 3), np.uint8)
    corners = np.rint(positions).astype(np.int64)
    for number in np.argsort(factors, kind="stable"):
        x, y = corners[number]
        place = canvas[y : y + patches.shape[1], x : x + patches.shape[2]]
        place[:] = np.round(patches[number] * float(factors[number]))[: place.shape[0], : place.shape[1]]
    return canvas


def cut_patches(image: np.ndarray, positions: np.ndarray, side: int) -> np.ndarray:
    """The (n, side, side, 3) squares of an image at these upper left corners, white beyond its border.

    >>> cut_patches(np.arange(48).reshape(4, 4, 3), np.array([[2, 1]]), side=1).tolist()
    [[[[18, 19, 20]]]]
    """
    check_positions(positions, (image.shape[1], image.shape[0]))
    corners = np.rint(positions).astype(np.int64)
    filled = np.pad(image, ((0, side), (0, side), (0, 0)), constant_values=WHITE)
    windows = np.lib.stride_tricks.sliding_window_view(filled, (side, side), axis=(0, 1))
    return np.moveaxis(windows[corners[:, 1], corners[:, 0]], 1, -1)
