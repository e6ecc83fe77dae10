"""Integer tables of the stages of a convolutional encoder, and their workspace.

A stage consists of convolution, 2 × 2 max pooling and ReLU. The kernels read and write whole SIMD vectors, up to one
vector past the end of a row. Therefore their arrays have additional space at the end (``MARGIN``), and rows of weights
are padded with zeros.

The weights of a stage are packed in two layouts. ``tiles``, for the forward pass, has one row per value of a window and
one column per output map. ``kernels``, for the backward pass, stores the windows map by map, with rows padded to whole
vectors.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite.binding import get_host_cpu_features
from torch import Tensor, nn


def detect_simd_lanes() -> int:
    """Return the number of float32 values in a vector register: 16 with AVX-512, else 8."""
    try:
        return 16 if get_host_cpu_features().get("avx512f") else 8
    except RuntimeError:  # LLVM does not recognise the processor
        return 8


LANES = detect_simd_lanes()  # values per vector
VECTORS = 8  # number of vectors that are accumulated together
MARGIN = 32  # additional values at the end of arrays, more than one vector

# Columns of ConvTables.stages: shapes …
HEIGHT, WIDTH, CHANNELS, KERNEL, MAPS, POOLED_HEIGHT, POOLED_WIDTH = range(7)
# … length of a row of a window, the same padded to whole vectors, and length of a window padded to VECTORS vectors …
ROW, ROW_PADDED, WINDOW_PADDED = range(7, 10)
# … and positions in the parameter buffer, in the packed weights, in the maps of an image, and in the offsets
STAGE_WEIGHTS, STAGE_BIAS, TILES, TILES_WIDTH, KERNELS, MAPS_START, OFFSETS = range(10, 17)


class ConvStage(NamedTuple):
    """A row of ``ConvTables.stages``, with the columns above as fields."""

    height: int
    width: int
    channels: int
    kernel: int
    maps: int
    pooled_height: int
    pooled_width: int
    row: int
    row_padded: int
    window_padded: int
    weights: int
    bias: int
    tiles: int
    tiles_width: int
    kernels: int
    maps_start: int
    offsets: int


class ConvTables(NamedTuple):
    """Stages of convolution as integer tables."""

    stages: np.ndarray  # (stages, 17)
    window_offsets: np.ndarray  # stage by stage: offsets of the vectors of a window in the image, from its corner …
    kernel_offsets: np.ndarray  # … and in the packed weights of its map


class ConvWorkspace(NamedTuple):
    """Arrays that a training step of a convolutional encoder writes."""

    maps: np.ndarray  # outputs of the stages, flat
    map_gradients: np.ndarray  # the same layout
    winners: np.ndarray  # bytes, the same layout: index of the value selected by max pooling, 0 to 3
    tiles: np.ndarray  # weights, packed for the forward pass …
    kernels: np.ndarray  # … and for the backward pass
    kernel_gradients: np.ndarray  # the layout of ``kernels``
    bias_gradients: np.ndarray
    listed_gradients: np.ndarray  # nonzero gradients of one map of one image …
    listed_positions: np.ndarray  # … positions of their windows …
    listed_windows: np.ndarray  # … and offsets of the windows in the image
    window_gradients: np.ndarray  # (positions, maps): the nonzero gradients of all maps at each position …
    window_kernels: np.ndarray  # … positions of the weights of their maps …
    window_counts: np.ndarray  # (positions,) … and their number


def pad_length(length: int, multiple: int = LANES) -> int:
    """Round a length up to a multiple; by default to whole vectors."""
    return -(-length // multiple) * multiple


def make_conv_tables(
    convolutions: Sequence[nn.Conv2d], shape: tuple[int, ...], allocate: Callable[[Tensor], int]
) -> ConvTables:
    """Return the tables for images of shape (channels, height, width).

    ``allocate`` returns the position of a parameter in the parameter buffer.
    """
    stages: list[ConvStage] = []
    tiles = kernels = maps_start = offsets = 0
    for convolution in convolutions:
        (channels, height, width), kernel, maps = shape, convolution.kernel_size[0], convolution.out_channels
        row = kernel * channels
        shape = (maps, (height - kernel + 1) // 2, (width - kernel + 1) // 2)
        stage = ConvStage(
            height=height,
            width=width,
            channels=channels,
            kernel=kernel,
            maps=maps,
            pooled_height=shape[1],
            pooled_width=shape[2],
            row=row,
            row_padded=pad_length(row),
            window_padded=pad_length(kernel * pad_length(row), LANES * VECTORS),
            weights=allocate(convolution.weight),
            bias=allocate(convolution.bias),  # type: ignore[arg-type]
            tiles=tiles,
            tiles_width=pad_length(maps),
            kernels=kernels,
            maps_start=maps_start,
            offsets=offsets,
        )
        stages.append(stage)
        tiles += (1 + kernel * row) * stage.tiles_width
        kernels += maps * stage.window_padded
        offsets += stage.window_padded // LANES
        maps_start += math.prod(shape)
    return ConvTables(
        stages=np.array(stages, np.int64),
        window_offsets=np.concatenate([_make_window_offsets(stage) for stage in stages]),
        kernel_offsets=np.concatenate([np.arange(0, stage.window_padded, LANES) for stage in stages]),
    )


def _make_window_offsets(stage: ConvStage) -> np.ndarray:
    """Return the offsets of the vectors of a window, row by row; the weights of padding vectors are zero."""
    rows = np.arange(stage.kernel)[:, None] * stage.width * stage.channels
    offsets = (rows + np.arange(0, stage.row_padded, LANES)).ravel()
    return np.concatenate([offsets, np.zeros(stage.window_padded // LANES - len(offsets), np.int64)])


def get_flat_width(tables: ConvTables) -> int:
    """Return the number of values per image in the maps of the last stage."""
    return int(tables.stages[-1, [POOLED_HEIGHT, POOLED_WIDTH, MAPS]].prod())


def make_conv_workspace(tables: ConvTables, n_rows: int, dtype: npt.DTypeLike) -> ConvWorkspace:
    """Allocate a workspace for up to ``n_rows`` images."""
    stages = tables.stages
    pooled, max_maps = stages[:, POOLED_HEIGHT] * stages[:, POOLED_WIDTH], int(stages[:, MAPS].max())
    maps = n_rows * int((pooled * stages[:, MAPS]).sum()) + MARGIN
    kernels = int((stages[:, MAPS] * stages[:, WINDOW_PADDED]).sum())
    tiles = int(((1 + stages[:, KERNEL] * stages[:, ROW]) * stages[:, TILES_WIDTH]).sum())
    max_listed = int(pooled.max()) + 1
    positions = int((stages[1:, HEIGHT] * stages[1:, WIDTH]).max(initial=0))
    return ConvWorkspace(
        maps=np.zeros(maps, dtype),
        map_gradients=np.zeros(maps, dtype),
        winners=np.zeros(maps, np.uint8),
        tiles=np.zeros(tiles, dtype),
        kernels=np.zeros(kernels, dtype),
        kernel_gradients=np.zeros(kernels, dtype),
        bias_gradients=np.zeros(max_maps, dtype),
        listed_gradients=np.zeros(max_listed, dtype),
        listed_positions=np.zeros(max_listed, np.int64),
        listed_windows=np.zeros(max_listed, np.int64),
        window_gradients=np.zeros((positions, max_maps), dtype),
        window_kernels=np.zeros((positions, max_maps), np.int64),
        window_counts=np.zeros(positions, np.int64),
    )
