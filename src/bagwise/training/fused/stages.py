"""The stages of a convolutional encoder as tables for the kernels, and the room they work in.

A stage is convolution, max pooling over 2 × 2 and ReLU. Kernels read and write whole vectors, and may run over the end
of a row by less than one: whatever they touch has a little more room than it needs, and rows of weights are padded with
zeros.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite.binding import get_host_cpu_features
from torch import nn


def lanes_of_host() -> int:
    """The floats of a vector: as many as a register of AVX-512 holds where there is one, else of AVX."""
    try:
        return 16 if get_host_cpu_features().get("avx512f") else 8
    except RuntimeError:  # LLVM does not know the processor
        return 8


LANES = lanes_of_host()  # of a vector
VECTORS = 8  # that are summed at once
MARGIN = 32  # numbers: more than a vector may run over

# Columns of Stages.table: shapes …
HEIGHT, WIDTH, CHANNELS, KERNEL, MAPS, POOLED_HEIGHT, POOLED_WIDTH = range(7)
# … numbers of a row of a window, the same in whole vectors, and those of a window in as many vectors as are summed …
ROW, ROW_PADDED, SIZE = range(7, 10)
# … and places: in the flat array of weights, in the packed weights, in the maps of an image, among the offsets
STAGE_WEIGHTS, STAGE_BIAS, TILES, TILES_WIDTH, KERNELS, COLUMN, OFFSETS = range(10, 17)
N_COLUMNS = 17


class Stages(NamedTuple):
    """Convolutions as tables of numbers."""

    table: np.ndarray  # (stages, 17)
    window_offsets: np.ndarray  # where the vectors of a window lie in an image, from its beginning, stage by stage …
    kernel_offsets: np.ndarray  # … and in its weights, as packed


class StagesRoom(NamedTuple):
    """Where a step works at convolutions."""

    maps: np.ndarray  # what the stages give, flat
    slopes: np.ndarray  # of the loss along them
    winners: np.ndarray  # bytes: which of four values max pooling took
    tiles: np.ndarray  # weights, packed for the way forward …
    kernels: np.ndarray  # … and for the way back
    kernel_gradient: np.ndarray  # laid out as ``kernels``
    bias_gradient: np.ndarray
    slopes_of_map: np.ndarray  # of one map of an image, where it has a slope …
    positions: np.ndarray  # … the positions of its windows …
    windows: np.ndarray  # … and where they begin in the image
    slopes_at: np.ndarray  # (positions of a window, maps): the same, position by position …
    kernels_at: np.ndarray  # … with the places of their weights …
    counts_at: np.ndarray  # (positions,) … and how many they are


def padded(length: int, by: int = LANES) -> int:
    """The length in whole vectors."""
    return -(-length // by) * by


def lay_out_stages(convolutions: Sequence[nn.Conv2d], shape: tuple[int, ...], take: Callable[[Any], int]) -> Stages:
    """Tables for images of a shape (channels, height, width); ``take`` finds a place for a parameter."""
    rows: list[tuple[int, ...]] = []
    tiles = kernels = column = offsets = 0
    for each in convolutions:
        (channels, height, width), size, maps = shape, each.kernel_size[0], each.out_channels
        row, full = size * channels, padded(size * padded(size * channels), LANES * VECTORS)
        shape = (maps, (height - size + 1) // 2, (width - size + 1) // 2)
        places = (take(each.weight), take(each.bias), tiles, padded(maps), kernels, column, offsets)
        rows.append((height, width, channels, size, maps, *shape[1:], row, padded(row), full, *places))
        tiles += (1 + size * row) * padded(maps)
        kernels += maps * full
        offsets += full // LANES
        column += math.prod(shape)
    table = np.array(rows, np.int64).reshape(-1, N_COLUMNS)
    return Stages(table, np.concatenate([*map(_window_offsets, table)]), _kernel_offsets(table))


def _window_offsets(stage: np.ndarray) -> np.ndarray:
    """Row by row of a window; what only fills up the last vectors meets weights of zero, wherever it lies."""
    rows = np.arange(stage[KERNEL])[:, None] * stage[WIDTH] * stage[CHANNELS]
    found = (rows + np.arange(0, stage[ROW_PADDED], LANES)).ravel()
    return np.concatenate([found, np.zeros(stage[SIZE] // LANES - len(found), np.int64)])


def _kernel_offsets(table: np.ndarray) -> np.ndarray:
    return np.concatenate([np.arange(0, size, LANES) for size in table[:, SIZE]])


def flat_width(stages: Stages) -> int:
    """The numbers of the last maps of one image."""
    return int(stages.table[-1, [POOLED_HEIGHT, POOLED_WIDTH, MAPS]].prod())


def room_for_stages(stages: Stages, n_rows: int, dtype: Any) -> StagesRoom:
    """Room for so many images."""
    table = stages.table
    places, most_maps = table[:, POOLED_HEIGHT] * table[:, POOLED_WIDTH], int(table[:, MAPS].max())
    maps = n_rows * int((places * table[:, MAPS]).sum()) + MARGIN
    kernels = int((table[:, MAPS] * table[:, SIZE]).sum())
    most, positions = int(places.max()) + 1, int((table[1:, HEIGHT] * table[1:, WIDTH]).max(initial=0))
    return StagesRoom(
        maps=np.zeros(maps, dtype),
        slopes=np.zeros(maps, dtype),
        winners=np.zeros(maps, np.uint8),
        tiles=np.zeros(int(((1 + table[:, KERNEL] * table[:, ROW]) * table[:, TILES_WIDTH]).sum()), dtype),
        kernels=np.zeros(kernels, dtype),
        kernel_gradient=np.zeros(kernels, dtype),
        bias_gradient=np.zeros(most_maps, dtype),
        slopes_of_map=np.zeros(most, dtype),
        positions=np.zeros(most, np.int64),
        windows=np.zeros(most, np.int64),
        slopes_at=np.zeros((positions, most_maps), dtype),
        kernels_at=np.zeros((positions, most_maps), np.int64),
        counts_at=np.zeros(positions, np.int64),
    )
