"""The way back through the stages of a convolutional encoder, with the update of their weights.

Of the four outputs under a window of max pooling only the winner has a slope, and only where ReLU left something: so
about one output in eight is visited, and for each, its window meets one row of weights after the other:

gradient[map] += slope · window        slopes[window] += slope · weights[map]
"""

import numpy as np

from bagwise.training.fused.compiling import compiled
from bagwise.training.fused.convolving import maps_of, unflatten
from bagwise.training.fused.layers import clear
from bagwise.training.fused.rules import update
from bagwise.training.fused.stages import (
    CHANNELS,
    KERNEL,
    KERNELS,
    LANES,
    MAPS,
    OFFSETS,
    POOLED_HEIGHT,
    POOLED_WIDTH,
    ROW,
    ROW_PADDED,
    SIZE,
    STAGE_BIAS,
    STAGE_WEIGHTS,
    VECTORS,
    WIDTH,
)
from bagwise.training.fused.tiles import add_products, put, take


@compiled
def retreat_stages(plan, room, n_rows, slopes, flat, kind, numbers):
    """From slopes along the flattened maps to the update of every stage."""
    table, work = plan.stages.table, room.stages
    unflatten(plan, room, n_rows, slopes)
    for number in range(table.shape[0] - 1, -1, -1):
        stage, below = table[number], table[max(number - 1, 0)]
        clear(work.kernel_gradient)
        clear(work.bias_gradient)
        maps, winners = maps_of(work.maps, stage, room), maps_of(work.winners, stage, room)
        images = room.rows if number == 0 else maps_of(work.maps, below, room)
        along, back = maps_of(work.slopes, stage, room), maps_of(work.slopes, below, room)
        for k in range(n_rows):
            add_gradient(plan.stages, stage, images[k], maps[k], winners[k], along[k], number > 0, work)
            if number > 0:
                clear(back[k])
                propagate(plan.stages, stage, back[k], work)
        _update(stage, flat, work, kind, numbers)


@compiled
def add_gradient(stages, stage, image, maps, winners, slopes, propagates, work):
    """The share of one image in the gradient, map by map; the slopes are listed by their windows too, if asked for."""
    to, of, gradient, listed = stages.kernel_offsets, stages.window_offsets, work.kernel_gradient, work.slopes_of_map
    clear(work.counts_at)
    for number in range(stage[MAPS]):
        start = stage[KERNELS] + number * stage[SIZE]
        count, total = list_slopes(stage, number, maps, winners, slopes, work)
        work.bias_gradient[number] += total
        for group in range(stage[OFFSETS], stage[OFFSETS] + stage[SIZE] // LANES, VECTORS):
            add_products(gradient, start, to, image, of, group, listed, work.windows, count)
        if propagates:
            _list_by_window(start, count, work)


@compiled
def list_slopes(stage, number, maps, winners, slopes, work):
    """Where a map has a slope: how many places, and the sum of their slopes.

    Every place is written, and overwritten if it has none: no branch has to be foreseen.
    """
    n_maps, width, across, channels = stage[MAPS], stage[POOLED_WIDTH], stage[WIDTH], stage[CHANNELS]
    count, at, zero = 0, number, maps.dtype.type(0)
    listed, positions, windows = work.slopes_of_map, work.positions, work.windows
    for y in range(stage[POOLED_HEIGHT]):
        for x in range(width):
            winner = np.int64(take(winners, at))
            position = (2 * y + (winner >> 1)) * across + 2 * x + (winner & 1)
            put(listed, count, take(slopes, at))
            put(positions, count, position)
            put(windows, count, position * channels)
            count += np.int64(take(maps, at) != zero)
            at += n_maps
    total = zero
    for place in range(count):
        total += listed[place]
    return count, total


@compiled
def _list_by_window(start, count, work):
    for place in range(count):
        position = work.positions[place]
        others = work.counts_at[position]
        work.slopes_at[position, others] = work.slopes_of_map[place]
        work.kernels_at[position, others] = start
        work.counts_at[position] = others + 1


@compiled
def propagate(stages, stage, back, work):
    """Slopes along the image: at each window, the maps that have a slope there are summed first.

    Column by column: the next window then shares whole vectors with the last, or none.
    """
    to, of = stages.window_offsets, stages.kernel_offsets
    for group in range(stage[OFFSETS], stage[OFFSETS] + stage[SIZE] // LANES, VECTORS):
        for x in range(2 * stage[POOLED_WIDTH]):
            for y in range(2 * stage[POOLED_HEIGHT]):
                position = y * stage[WIDTH] + x
                count, slopes, begins = work.counts_at[position], work.slopes_at[position], work.kernels_at[position]
                if count > 0:
                    start = position * stage[CHANNELS]
                    add_products(back, start, to, work.kernels, of, group, slopes, begins, count)


@compiled
def _update(stage, flat, work, kind, numbers):
    part = slice(stage[STAGE_BIAS], stage[STAGE_BIAS] + stage[MAPS])
    gradient = work.bias_gradient[: stage[MAPS]]
    update(kind, numbers, flat.weights[part], flat.first[part], flat.second[part], gradient)
    for row in range(stage[MAPS] * stage[KERNEL]):
        start, number = stage[STAGE_WEIGHTS] + row * stage[ROW], row // stage[KERNEL]
        found = stage[KERNELS] + number * stage[SIZE] + row % stage[KERNEL] * stage[ROW_PADDED]
        part, gradient = slice(start, start + stage[ROW]), work.kernel_gradient[found : found + stage[ROW]]
        update(kind, numbers, flat.weights[part], flat.first[part], flat.second[part], gradient)
