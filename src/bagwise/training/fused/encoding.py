"""The encoder f over the rows of a batch: its blocks forward, and backward with the update of its weights."""

from bagwise.training.fused.beginning import begin, end, update_bias
from bagwise.training.fused.compiling import compiled
from bagwise.training.fused.layers import apply_sparse, copy, rectify, retreat_sparse
from bagwise.training.fused.philox import draw_kept
from bagwise.training.fused.plan import BIAS, INPUTS, OUTPUTS, WEIGHTS
from bagwise.training.fused.views import block, matrix, members_of


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
    begin(plan.stages, plan, room, n_rows, weights)
    for number in range(1, plan.widths.shape[0]):
        values, kept = block(room.hidden, plan, room, number), block(room.kept, plan, room, number)
        active, counts = block(room.active, plan, room, number), room.counts[number]
        members, sizes = members_of(plan, room, number)
        inputs, outputs = plan.layers[number, INPUTS], plan.layers[number, OUTPUTS]
        start, bias_start = plan.layers[number, WEIGHTS], plan.layers[number, BIAS]
        for k in range(n_rows):
            copy(weights[bias_start : bias_start + outputs], values[k])
        below, its_active = block(room.hidden, plan, room, number - 1), block(room.active, plan, room, number - 1)
        its_counts = room.counts[number - 1]
        apply_sparse(below, its_active, its_counts, n_rows, matrix(weights, start, inputs, outputs), values)
        rectify(values, n_rows, kept, plan.scales[number], active, counts, members, sizes)


@compiled
def retreat(plan, room, n_rows, flat, kind, numbers):
    """From the slopes along the embedding to the update of every layer."""
    for number in range(plan.layers.shape[0] - 1, -1, -1):
        slopes = block(room.back, plan, room, number)
        through_dropout(slopes, n_rows, plan.scales[number])
        if number == 0:
            end(plan.stages, plan, room, n_rows, slopes, flat, kind, numbers)
            return
        update_bias(plan, room, number, n_rows, slopes, flat, kind, numbers)
        inputs, outputs, start = plan.layers[number, INPUTS], plan.layers[number, OUTPUTS], plan.layers[number, WEIGHTS]
        weights, first = matrix(flat.weights, start, inputs, outputs), matrix(flat.first, start, inputs, outputs)
        second, gradient = matrix(flat.second, start, inputs, outputs), room.gradient[:outputs]
        below, back = block(room.hidden, plan, room, number - 1), block(room.back, plan, room, number - 1)
        members, sizes = members_of(plan, room, number - 1)
        retreat_sparse(below, members, sizes, slopes, back, True, weights, first, second, gradient, kind, numbers)


@compiled
def through_dropout(slopes, n_rows, scale):
    """Slopes before dropout and ReLU, where something is left; elsewhere they are zero already."""
    for k in range(n_rows):
        for column in range(slopes.shape[1]):
            slopes[k, column] *= scale
