"""The first block of an encoder, forward and backward: by convolution, by a layer that reads dense rows, or as it is.

Which of them is compiled follows from the types: a plan without stages has an empty tuple in their place.
"""

from typing import Any

from numba import types
from numba.extending import overload

from bagwise.training.fused.compiling import OPTIONS, UNSEEN, compiled, plain
from bagwise.training.fused.convolving import convolve, flatten
from bagwise.training.fused.layers import apply_dense, column_sums, list_left, rectify, retreat_dense
from bagwise.training.fused.plan import BIAS, INPUTS, OUTPUTS, WEIGHTS
from bagwise.training.fused.retreating import retreat_stages
from bagwise.training.fused.rules import update
from bagwise.training.fused.views import block, matrix, members_of

NOTHING = types.Tuple(())
AS_KERNELS: Any = {**OPTIONS, **UNSEEN}


def begin(stages, plan, room, n_rows, weights):
    """Fill the first block, and list what is not zero in it; only kernels call it."""
    raise NotImplementedError


@overload(begin, jit_options=AS_KERNELS)
def _begin(stages, plan, room, n_rows, weights):
    return plain(_read_rows if stages == NOTHING else _read_images)


def _read_rows(stages, plan, room, n_rows, weights):
    """The first layer, or the rows themselves."""
    values, kept = block(room.hidden, plan, room, 0), block(room.kept, plan, room, 0)
    active, (members, sizes) = block(room.active, plan, room, 0), members_of(plan, room, 0)
    if plan.layers.shape[0] == 0:
        take(room.rows, n_rows, kept, plan.scales[0], values, active, room.counts[0], members, sizes)
        return
    inputs, outputs = plan.layers[0, INPUTS], plan.layers[0, OUTPUTS]
    start, bias_start = plan.layers[0, WEIGHTS], plan.layers[0, BIAS]
    bias = weights[bias_start : bias_start + outputs]
    apply_dense(room.rows, n_rows, matrix(weights, start, outputs, inputs), bias, kept, room.chosen, values)
    rectify(values, n_rows, kept, plan.scales[0], active, room.counts[0], members, sizes)


def _read_images(stages, plan, room, n_rows, weights):
    """Convolutions, and their maps laid flat."""
    values, kept = block(room.hidden, plan, room, 0), block(room.kept, plan, room, 0)
    active, (members, sizes) = block(room.active, plan, room, 0), members_of(plan, room, 0)
    convolve(plan, room, n_rows, weights)
    flatten(plan, room, n_rows, values)
    rectify(values, n_rows, kept, plan.scales[0], active, room.counts[0], members, sizes)


@compiled
def take(rows, n_rows, kept, scale, values, active, counts, members, sizes):
    """The block of an encoder without layers: the rows themselves, with dropout."""
    for k in range(n_rows):
        for column in range(rows.shape[1]):
            values[k, column] = rows[k, column] * scale * kept[k, column]
    list_left(values, n_rows, active, counts, members, sizes)


def end(stages, plan, room, n_rows, slopes, flat, kind, numbers):
    """From slopes along the first block, before ReLU, to the update of what filled it; only kernels call it."""
    raise NotImplementedError


@overload(end, jit_options=AS_KERNELS)
def _end(stages, plan, room, n_rows, slopes, flat, kind, numbers):
    return plain(_retreat_rows if stages == NOTHING else _retreat_images)


def _retreat_images(stages, plan, room, n_rows, slopes, flat, kind, numbers):
    retreat_stages(plan, room, n_rows, slopes, flat, kind, numbers)


def _retreat_rows(stages, plan, room, n_rows, slopes, flat, kind, numbers):
    """The update of the first layer."""
    update_bias(plan, room, 0, n_rows, slopes, flat, kind, numbers)
    inputs, outputs, start = plan.layers[0, INPUTS], plan.layers[0, OUTPUTS], plan.layers[0, WEIGHTS]
    weights, first = matrix(flat.weights, start, outputs, inputs), matrix(flat.first, start, outputs, inputs)
    second, gradient = matrix(flat.second, start, outputs, inputs), room.gradient[:inputs]
    members, sizes = members_of(plan, room, 0)
    retreat_dense(room.rows, members, sizes, slopes, weights, first, second, gradient, kind, numbers)


@compiled
def update_bias(plan, room, number, n_rows, slopes, flat, kind, numbers):
    """The update of a layer's bias."""
    start, gradient = plan.layers[number, BIAS], room.gradient[: plan.layers[number, OUTPUTS]]
    part = slice(start, start + gradient.shape[0])
    column_sums(slopes, n_rows, gradient)
    update(kind, numbers, flat.weights[part], flat.first[part], flat.second[part], gradient)
