"""Patches painted where they were cut from, each times a factor: panels (b) to (e) of the figures of Ilse et al. 2018.

(b) 1        (c) 1 if it is a key instance, else 0        (d) a′        (e) s′        v′ = (v − min v)/(max v − min v)
"""

import numpy as np

from bagwise.errors import InputError


def paint(patches: np.ndarray, positions: np.ndarray, factors: np.ndarray, width: int, height: int) -> np.ndarray:
    """Every patch times its factor on black; where patches overlap, the greatest factor is seen.

    patches : (n, side, side, 3) bytes
    positions : (n, 2) whole numbers: x and y of each patch's upper left corner
    factors : (n,) from 0 to 1
    """
    canvas = np.zeros((height, width, 3), np.uint8)
    for number in np.argsort(factors, kind="stable"):
        x, y = (int(value) for value in positions[number])
        below, beside = patches.shape[1:3]
        canvas[y : y + below, x : x + beside] = np.round(patches[number] * float(factors[number]))
    return canvas


def cut_patches(image: np.ndarray, positions: np.ndarray, side: int) -> np.ndarray:
    """The (n, side, side, 3) squares of an image at these upper left corners.

    >>> cut_patches(np.arange(48).reshape(4, 4, 3), np.array([[2, 1]]), side=1).tolist()
    [[[[18, 19, 20]]]]
    """
    corners = np.asarray(positions, dtype=np.int64)
    outside = (corners < 0).any(axis=1) | (corners + side > (image.shape[1], image.shape[0])).any(axis=1)
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(
            f"tile {row} at ({corners[row, 0]}, {corners[row, 1]}) of side {side} does not lie in the image of "
            f"{image.shape[1]} × {image.shape[0]} pixels; is it the image of this bag?"
        )
    windows = np.lib.stride_tricks.sliding_window_view(image, (side, side), axis=(0, 1))
    return np.moveaxis(windows[corners[:, 1], corners[:, 0]], 1, -1)
