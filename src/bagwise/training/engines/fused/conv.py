"""Stages of a convolutional encoder: convolution, max pooling and ReLU in one pass, forward and backward.

    forward    z = window · W[map] + b[map]         maps = max(0, max over 2 × 2 of z)
    backward   ∂L/∂W[map] += g · window             ∂L/∂window += g · W[map]

where g is the gradient of one value of a map. Of the four values of a window of max pooling, only the maximum (the
*winner*) has a gradient, and only if it is positive. Therefore the backward pass processes about one output in eight.

Images and maps are stored with channels last, so that a row of a window is contiguous. ``conv_tables`` describes how
the weights are packed before a step.
"""

import numpy as np

from bagwise.training.engines.fused.compilation import compile_kernel, inline_kernel, view_matrix
from bagwise.training.engines.fused.conv_tables import (
    CHANNELS,
    KERNEL,
    KERNELS,
    LANES,
    MAPS,
    MAPS_START,
    OFFSETS,
    POOLED_HEIGHT,
    POOLED_WIDTH,
    ROW,
    ROW_PADDED,
    STAGE_BIAS,
    STAGE_WEIGHTS,
    TILES,
    TILES_WIDTH,
    VECTORS,
    WIDTH,
    WINDOW_PADDED,
)
from bagwise.training.engines.fused.dense import clear_values
from bagwise.training.engines.fused.optimizers import update_slice
from bagwise.training.engines.fused.simd import add_products, load_value, make_conv_tile, store_value

convolve_one_vector, convolve_two_vectors, convolve_three_vectors = (make_conv_tile(n) for n in (1, 2, 3))


@compile_kernel
def conv_forward(tables, workspace, n_rows, weights):
    """Compute ``maps`` and ``winners``, stage by stage."""
    stages, conv = tables.conv.stages, workspace.conv
    for index in range(stages.shape[0]):
        stage = stages[index]
        pack_weights(stage, weights, conv.tiles, conv.kernels)
        images = workspace.instances if index == 0 else view_maps(conv.maps, stages[index - 1], workspace)
        maps, winners = view_maps(conv.maps, stage, workspace), view_maps(conv.winners, stage, workspace)
        for k in range(n_rows):  # in order, because a vector may overwrite the start of the next image's maps
            convolve_image(stage, images[k], conv.tiles, maps[k], winners[k])


@compile_kernel
def conv_backward(tables, workspace, n_rows, gradients, parameters, rule):
    """Propagate the gradients of the flattened maps back through all stages, and update their weights."""
    stages, conv = tables.conv.stages, workspace.conv
    unflatten_gradients(tables, workspace, n_rows, gradients)
    for index in range(stages.shape[0] - 1, -1, -1):
        stage, previous = stages[index], stages[max(index - 1, 0)]
        clear_values(conv.kernel_gradients)
        clear_values(conv.bias_gradients)
        maps, winners = view_maps(conv.maps, stage, workspace), view_maps(conv.winners, stage, workspace)
        images = workspace.instances if index == 0 else view_maps(conv.maps, previous, workspace)
        map_gradients = view_maps(conv.map_gradients, stage, workspace)
        image_gradients = view_maps(conv.map_gradients, previous, workspace)
        for k in range(n_rows):
            add_kernel_gradients(tables.conv, stage, images[k], maps[k], winners[k], map_gradients[k], index > 0, conv)
            if index > 0:
                clear_values(image_gradients[k])
                add_image_gradients(tables.conv, stage, image_gradients[k], conv)
        _update_weights(stage, parameters, conv, rule)


@inline_kernel
def view_maps(buffer, stage, workspace):
    """Return an (images, pooled height · pooled width · maps) view of the maps of a stage in a flat array."""
    capacity = workspace.instances.shape[0]
    size = stage[POOLED_HEIGHT] * stage[POOLED_WIDTH] * stage[MAPS]
    return view_matrix(buffer, capacity * stage[MAPS_START], capacity, size)


@compile_kernel
def pack_weights(stage, weights, tiles, kernels):
    """Write both packed copies of the weights of a stage; the padding is already zero."""
    start, length, n_rows = stage[STAGE_WEIGHTS], stage[ROW], stage[KERNEL]
    for map_index in range(stage[MAPS]):
        tiles[stage[TILES] + map_index] = weights[stage[STAGE_BIAS] + map_index]
        for row in range(n_rows):
            source = start + (map_index * n_rows + row) * length
            kernel = stage[KERNELS] + map_index * stage[WINDOW_PADDED] + row * stage[ROW_PADDED]
            tile = stage[TILES] + (1 + row * length) * stage[TILES_WIDTH] + map_index
            for column in range(length):
                kernels[kernel + column] = weights[source + column]
                tiles[tile + column * stage[TILES_WIDTH]] = weights[source + column]


@compile_kernel
def convolve_image(stage, image, tiles, maps, winners):
    """Apply one stage to one image; as in torch, max pooling ignores the last row or column if their number is odd."""
    across, down, width = stage[CHANNELS], stage[WIDTH] * stage[CHANNELS], stage[TILES_WIDTH]
    for y in range(stage[POOLED_HEIGHT]):
        for x in range(stage[POOLED_WIDTH]):
            window = (2 * y * down + 2 * x * across, across, down, stage[KERNEL], stage[ROW])
            target, done = (y * stage[POOLED_WIDTH] + x) * stage[MAPS], 0
            while done < width:
                left, start = (width - done) // LANES, stage[TILES] + done
                if left == 3 or left > 4:  # avoids a single vector at the end, if possible
                    convolve_three_vectors(image, window, tiles, start, width, maps, winners, target + done)
                    done += 3 * LANES
                elif left > 1:
                    convolve_two_vectors(image, window, tiles, start, width, maps, winners, target + done)
                    done += 2 * LANES
                else:
                    convolve_one_vector(image, window, tiles, start, width, maps, winners, target + done)
                    done += LANES


@compile_kernel
def add_kernel_gradients(tables, stage, image, maps, winners, gradients, propagate, conv):
    """Add one image to the gradients of W and b, map by map; if ``propagate``, also list the gradients by window."""
    clear_values(conv.window_counts)
    for map_index in range(stage[MAPS]):
        kernel = stage[KERNELS] + map_index * stage[WINDOW_PADDED]
        count, total = list_gradients(stage, map_index, maps, winners, gradients, conv)
        conv.bias_gradients[map_index] += total
        for group in range(stage[OFFSETS], stage[OFFSETS] + stage[WINDOW_PADDED] // LANES, VECTORS):
            add_products(
                conv.kernel_gradients,
                kernel,
                tables.kernel_offsets,
                image,
                tables.window_offsets,
                group,
                conv.listed_gradients,
                conv.listed_windows,
                count,
            )
        if propagate:
            _list_by_window(kernel, count, conv)


@compile_kernel
def list_gradients(stage, map_index, maps, winners, gradients, conv):
    """List the nonzero gradients of a map; return their number and their sum.

    Every entry is written, and overwritten by the next one if it has no gradient. This avoids unpredictable branches.
    """
    n_maps, pooled_width, image_width, channels = stage[MAPS], stage[POOLED_WIDTH], stage[WIDTH], stage[CHANNELS]
    count, source, zero = 0, map_index, maps.dtype.type(0)
    listed, positions, windows = conv.listed_gradients, conv.listed_positions, conv.listed_windows
    for y in range(stage[POOLED_HEIGHT]):
        for x in range(pooled_width):
            winner = np.int64(load_value(winners, source))
            position = (2 * y + (winner >> 1)) * image_width + 2 * x + (winner & 1)
            store_value(listed, count, load_value(gradients, source))
            store_value(positions, count, position)
            store_value(windows, count, position * channels)
            count += np.int64(load_value(maps, source) != zero)
            source += n_maps
    total = zero
    for entry in range(count):
        total += listed[entry]
    return count, total


@compile_kernel
def _list_by_window(kernel, count, conv):
    """Append the listed gradients of one map to the lists of their windows."""
    for entry in range(count):
        position = conv.listed_positions[entry]
        n_before = conv.window_counts[position]
        conv.window_gradients[position, n_before] = conv.listed_gradients[entry]
        conv.window_kernels[position, n_before] = kernel
        conv.window_counts[position] = n_before + 1


@compile_kernel
def add_image_gradients(tables, stage, image_gradients, conv):
    """Add the gradients of one image; for each window, the contributions of all maps are summed first.

    Windows are processed column by column, so that consecutive windows share whole vectors or none.
    """
    for group in range(stage[OFFSETS], stage[OFFSETS] + stage[WINDOW_PADDED] // LANES, VECTORS):
        for x in range(2 * stage[POOLED_WIDTH]):
            for y in range(2 * stage[POOLED_HEIGHT]):
                position = y * stage[WIDTH] + x
                count = conv.window_counts[position]
                if count > 0:
                    add_products(
                        image_gradients,
                        position * stage[CHANNELS],
                        tables.window_offsets,
                        conv.kernels,
                        tables.kernel_offsets,
                        group,
                        conv.window_gradients[position],
                        conv.window_kernels[position],
                        count,
                    )


@compile_kernel
def _update_weights(stage, parameters, conv, rule):
    update_slice(rule, parameters, stage[STAGE_BIAS], conv.bias_gradients[: stage[MAPS]])
    for row in range(stage[MAPS] * stage[KERNEL]):
        map_index, kernel_row = row // stage[KERNEL], row % stage[KERNEL]
        source = stage[KERNELS] + map_index * stage[WINDOW_PADDED] + kernel_row * stage[ROW_PADDED]
        gradient = conv.kernel_gradients[source : source + stage[ROW]]
        update_slice(rule, parameters, stage[STAGE_WEIGHTS] + row * stage[ROW], gradient)


@compile_kernel
def flatten_maps(tables, workspace, n_rows, values):
    """Copy the maps of the last stage to the rows of a block, map by map as in torch."""
    stage = tables.conv.stages[tables.conv.stages.shape[0] - 1]
    maps, n_maps = view_maps(workspace.conv.maps, stage, workspace), stage[MAPS]
    n_positions = stage[POOLED_HEIGHT] * stage[POOLED_WIDTH]
    for k in range(n_rows):
        for position in range(n_positions):
            for map_index in range(n_maps):
                values[k, map_index * n_positions + position] = maps[k, position * n_maps + map_index]


@compile_kernel
def unflatten_gradients(tables, workspace, n_rows, gradients):
    """Copy the gradients of a block to the gradients of the maps of the last stage."""
    stage = tables.conv.stages[tables.conv.stages.shape[0] - 1]
    map_gradients, n_maps = view_maps(workspace.conv.map_gradients, stage, workspace), stage[MAPS]
    n_positions = stage[POOLED_HEIGHT] * stage[POOLED_WIDTH]
    for k in range(n_rows):
        for position in range(n_positions):
            for map_index in range(n_maps):
                map_gradients[k, position * n_maps + map_index] = gradients[k, map_index * n_positions + position]
