"""The stages of a convolutional encoder, forward: convolution, max pooling and ReLU in one go, for each image.

Images and maps lie row by row, the channels of a pixel side by side, so that a row of a window is contiguous. The
weights are packed twice before a step: number by number with the maps side by side, as ``tile`` reads them, and map by
map with rows of whole vectors, for the way back.
"""

from bagwise.training.fused.compiling import compiled, inlined
from bagwise.training.fused.stages import (
    CHANNELS,
    COLUMN,
    KERNEL,
    KERNELS,
    LANES,
    MAPS,
    POOLED_HEIGHT,
    POOLED_WIDTH,
    ROW,
    ROW_PADDED,
    SIZE,
    STAGE_BIAS,
    STAGE_WEIGHTS,
    TILES,
    TILES_WIDTH,
    WIDTH,
)
from bagwise.training.fused.tiles import tile
from bagwise.training.fused.views import matrix

one_vector, two_vectors, three_vectors = tile(1), tile(2), tile(3)


@inlined
def maps_of(flat, stage, room):
    """What a stage gives, of a flat array: (images, pooled height · pooled width · maps)."""
    capacity = room.rows.shape[0]
    size = stage[POOLED_HEIGHT] * stage[POOLED_WIDTH] * stage[MAPS]
    return matrix(flat, capacity * stage[COLUMN], capacity, size)


@compiled
def convolve(plan, room, n_rows, weights):
    """Fill ``maps`` and ``winners``, stage by stage."""
    table, work = plan.stages.table, room.stages
    for number in range(table.shape[0]):
        stage = table[number]
        pack(stage, weights, work.tiles, work.kernels)
        images = room.rows if number == 0 else maps_of(work.maps, table[number - 1], room)
        maps, winners = maps_of(work.maps, stage, room), maps_of(work.winners, stage, room)
        for k in range(n_rows):  # in this order: a vector may run over into the maps of the next image
            convolve_image(stage, images[k], work.tiles, maps[k], winners[k])


@compiled
def pack(stage, weights, tiles, kernels):
    """Both copies of a stage's weights; what pads them is zero already."""
    start, length, n_rows = stage[STAGE_WEIGHTS], stage[ROW], stage[KERNEL]
    for number in range(stage[MAPS]):
        tiles[stage[TILES] + number] = weights[stage[STAGE_BIAS] + number]
        for row in range(n_rows):
            source = start + (number * n_rows + row) * length
            target = stage[KERNELS] + number * stage[SIZE] + row * stage[ROW_PADDED]
            place = stage[TILES] + (1 + row * length) * stage[TILES_WIDTH] + number
            for column in range(length):
                kernels[target + column] = weights[source + column]
                tiles[place + column * stage[TILES_WIDTH]] = weights[source + column]


@compiled
def convolve_image(stage, image, tiles, maps, winners):
    """One image through one stage; a window of max pooling is left out where it would not fit, as in torch."""
    across, down, width = stage[CHANNELS], stage[WIDTH] * stage[CHANNELS], stage[TILES_WIDTH]
    for y in range(stage[POOLED_HEIGHT]):
        for x in range(stage[POOLED_WIDTH]):
            window = (2 * y * down + 2 * x * across, across, down, stage[KERNEL], stage[ROW])
            place, number = (y * stage[POOLED_WIDTH] + x) * stage[MAPS], 0
            while number < width:
                left, start = (width - number) // LANES, stage[TILES] + number
                if left == 3 or left > 4:  # threes and twos, rather than a single one at the end
                    three_vectors(image, window, tiles, start, width, maps, winners, place + number)
                    number += 3 * LANES
                elif left > 1:
                    two_vectors(image, window, tiles, start, width, maps, winners, place + number)
                    number += 2 * LANES
                else:
                    one_vector(image, window, tiles, start, width, maps, winners, place + number)
                    number += LANES


@compiled
def flatten(plan, room, n_rows, values):
    """The maps of the last stage as rows of a block, in torch's order: map by map."""
    stage = plan.stages.table[plan.stages.table.shape[0] - 1]
    maps, n_maps = maps_of(room.stages.maps, stage, room), stage[MAPS]
    n_places = stage[POOLED_HEIGHT] * stage[POOLED_WIDTH]
    for k in range(n_rows):
        for place in range(n_places):
            for number in range(n_maps):
                values[k, number * n_places + place] = maps[k, place * n_maps + number]


@compiled
def unflatten(plan, room, n_rows, slopes):
    """From slopes along a block to slopes along the maps of the last stage."""
    stage = plan.stages.table[plan.stages.table.shape[0] - 1]
    back, n_maps = maps_of(room.stages.slopes, stage, room), stage[MAPS]
    n_places = stage[POOLED_HEIGHT] * stage[POOLED_WIDTH]
    for k in range(n_rows):
        for place in range(n_places):
            for number in range(n_maps):
                back[k, place * n_maps + number] = slopes[k, number * n_places + place]
