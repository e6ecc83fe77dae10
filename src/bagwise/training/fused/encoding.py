"""The encoder f over the rows of a batch: its blocks forward, and backward with the update of its weights."""

from bagwise.training.fused.compiling import compiled, inlined
from bagwise.training.fused.layers import (
    apply_dense,
    apply_sparse,
    column_sums,
    copy,
    list_left,
    rectify,
    retreat_dense,
    retreat_sparse,
)
from bagwise.training.fused.philox import draw_kept
from bagwise.training.fused.plan import BIAS, INPUTS, OUTPUTS, WEIGHTS
from bagwise.training.fused.rules import update
from bagwise.training.fused.views import matrix


@inlined
def block(flat, plan, room, number):
    """One block of a flat array, (rows, width)."""
    capacity = room.rows.shape[0]
    return matrix(flat, capacity * plan.columns[number], capacity, plan.widths[number])


@inlined
def members_of(plan, room, number):
    """For each column of a block the rows where it is not zero, and how many they are."""
    capacity, column, width = room.rows.shape[0], plan.columns[number], plan.widths[number]
    return matrix(room.members, capacity * column, width, capacity), room.sizes[column : column + width]


@compiled
def silence(plan, room, n_rows, seed, step):
    """Draw what dropout keeps in every block."""
    for number in range(plan.widths.shape[0]):
        layer, threshold = plan.drawers[number, 0], plan.drawers[number, 1]
        if threshold > 0:
            draw_kept(block(room.kept, plan, room, number), n_rows, seed, layer, step, threshold)


@compiled
def encode(plan, room, n_rows, weights):
    """Fill the blocks, and list what is not zero in them."""
    for number in range(plan.widths.shape[0]):
        values, kept = block(room.hidden, plan, room, number), block(room.kept, plan, room, number)
        active, counts = block(room.active, plan, room, number), room.counts[number]
        members, sizes = members_of(plan, room, number)
        if plan.layers.shape[0] == 0:
            take(room.rows, n_rows, kept, plan.scales[number], values, active, counts, members, sizes)
            continue
        inputs, outputs = plan.layers[number, INPUTS], plan.layers[number, OUTPUTS]
        start, bias_start = plan.layers[number, WEIGHTS], plan.layers[number, BIAS]
        bias = weights[bias_start : bias_start + outputs]
        if number == 0:
            apply_dense(room.rows, n_rows, matrix(weights, start, outputs, inputs), bias, kept, room.chosen, values)
        else:
            for k in range(n_rows):
                copy(bias, values[k])
            below, its_active = block(room.hidden, plan, room, number - 1), block(room.active, plan, room, number - 1)
            its_counts = room.counts[number - 1]
            apply_sparse(below, its_active, its_counts, n_rows, matrix(weights, start, inputs, outputs), values)
        rectify(values, n_rows, kept, plan.scales[number], active, counts, members, sizes)


@compiled
def take(rows, n_rows, kept, scale, values, active, counts, members, sizes):
    """The block of an encoder without layers: the rows themselves, with dropout."""
    for k in range(n_rows):
        for column in range(rows.shape[1]):
            values[k, column] = rows[k, column] * scale * kept[k, column]
    list_left(values, n_rows, active, counts, members, sizes)


@compiled
def retreat(plan, room, n_rows, flat, kind, numbers):
    """From the slopes along the embedding to the update of every layer."""
    for number in range(plan.layers.shape[0] - 1, -1, -1):
        slopes = block(room.back, plan, room, number)
        members, sizes = members_of(plan, room, number)
        through_dropout(slopes, n_rows, plan.scales[number])
        inputs, outputs = plan.layers[number, INPUTS], plan.layers[number, OUTPUTS]
        start, bias_start = plan.layers[number, WEIGHTS], plan.layers[number, BIAS]
        gradient = room.gradient[:outputs]
        column_sums(slopes, n_rows, gradient)
        part = slice(bias_start, bias_start + outputs)
        update(kind, numbers, flat.weights[part], flat.first[part], flat.second[part], gradient)
        if number == 0:
            weights, first = matrix(flat.weights, start, outputs, inputs), matrix(flat.first, start, outputs, inputs)
            second = matrix(flat.second, start, outputs, inputs)
            gradient = room.gradient[:inputs]
            retreat_dense(room.rows, members, sizes, slopes, weights, first, second, gradient, kind, numbers)
        else:
            weights, first = matrix(flat.weights, start, inputs, outputs), matrix(flat.first, start, inputs, outputs)
            second = matrix(flat.second, start, inputs, outputs)
            below, back = block(room.hidden, plan, room, number - 1), block(room.back, plan, room, number - 1)
            members, sizes = members_of(plan, room, number - 1)
            retreat_sparse(below, members, sizes, slopes, back, True, weights, first, second, gradient, kind, numbers)


@compiled
def through_dropout(slopes, n_rows, scale):
    """Slopes before dropout and ReLU, where something is left; elsewhere they are zero already."""
    for k in range(n_rows):
        for column in range(slopes.shape[1]):
            slopes[k, column] *= scale
