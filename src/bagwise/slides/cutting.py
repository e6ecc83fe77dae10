"""Cutting an image into tiles, and telling how white they are."""

import numpy as np

from bagwise.errors import InputError

LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R 601, as Pillow makes grey
WHITE = 215  # a grey value above this counts as white


def cut(image: np.ndarray, size: int, stride: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Whole tiles of an image, row by row, and the (x, y) of their upper left corners.

    >>> tiles, positions = cut(np.zeros((4, 6, 3), dtype=np.uint8), size=2)
    >>> tiles.shape, positions[:4].tolist()
    ((6, 2, 2, 3), [[0, 0], [2, 0], [4, 0], [0, 2]])
    """
    stride = size if stride is None else stride
    if size < 1 or stride < 1:
        raise InputError(f"tile size is {size} and stride {stride}; both must be at least 1")
    if min(image.shape[:2]) < size:
        raise InputError(f"an image of {image.shape[1]}×{image.shape[0]} pixels holds no tile of {size}×{size}")
    windows = np.lib.stride_tricks.sliding_window_view(image, (size, size), axis=(0, 1))[::stride, ::stride]
    rows, columns = windows.shape[:2]
    tiles = np.moveaxis(windows, (-2, -1), (2, 3)).reshape(rows * columns, size, size, *image.shape[2:])
    y, x = np.divmod(np.arange(rows * columns), columns)
    return tiles, np.stack([x, y], axis=1) * stride


def white_share(tiles: np.ndarray, white: int = WHITE) -> np.ndarray:
    """The share of each tile's pixels whose grey value lies above ``white``."""
    grey = tiles if tiles.ndim == 3 else tiles[..., :3] @ LUMA
    return (grey > white).mean(axis=(1, 2))
