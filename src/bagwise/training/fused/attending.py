"""Attention within each bag: relevance of the rows, its softmax, and the way back to V, U and w.

a = softmax(wᵀ tanh(V hᵀ))        gated: a = softmax(wᵀ (tanh(V hᵀ) ⊙ sigm(U hᵀ)))
"""

import math

from bagwise.training.fused.compiling import compiled
from bagwise.training.fused.functions import sigmoid_row, tanh_row
from bagwise.training.fused.layers import apply_sparse, retreat_sparse
from bagwise.training.fused.plan import ATTENTION, GATED
from bagwise.training.fused.rules import update
from bagwise.training.fused.views import block, matrix, members_of


@compiled
def project(plan, room, n_rows, start, width, weights, outputs):
    """outputs = embeddings · weights, block by block."""
    for k in range(n_rows):
        outputs[k, :] = 0
    for number in range(plan.first_block, plan.widths.shape[0]):
        inputs = plan.widths[number]
        rows = matrix(weights, start, inputs, width)
        values, active = block(room.hidden, plan, room, number), block(room.active, plan, room, number)
        apply_sparse(values, active, room.counts[number], n_rows, rows, outputs)
        start += inputs * width


@compiled
def retreat_projection(plan, room, start, width, slopes, flat, kind, numbers):
    """The way back through ``project``, with the update of its weights."""
    propagates = plan.layers.shape[0] > 0
    for number in range(plan.first_block, plan.widths.shape[0]):
        inputs = plan.widths[number]
        weights, first = matrix(flat.weights, start, inputs, width), matrix(flat.first, start, inputs, width)
        second = matrix(flat.second, start, inputs, width)
        values, back = block(room.hidden, plan, room, number), block(room.back, plan, room, number)
        members, sizes = members_of(plan, room, number)
        gradient = room.gradient[:width]
        retreat_sparse(
            values, members, sizes, slopes, back, propagates, weights, first, second, gradient, kind, numbers
        )
        start += inputs * width


@compiled
def attend(plan, room, n_bags, n_rows, weights):
    """The weights a of all rows."""
    for_tanh, for_gate, for_relevance, width = plan.attention
    relevance = weights[for_relevance : for_relevance + width]
    for gated in range(2 if plan.pooling == GATED else 1):  # one call, because each is compiled anew
        start, outputs = (for_gate, room.gate) if gated else (for_tanh, room.tanh)
        project(plan, room, n_rows, start, width, weights, outputs)
    for k in range(n_rows):
        tanh_row(room.tanh[k])
        if plan.pooling == GATED:
            sigmoid_row(room.gate[k])
        room.attended[k] = _relevance(plan.pooling, room.tanh[k], room.gate[k], relevance)
    for bag in range(n_bags):
        _softmax(room.attended[room.edges[bag] : room.edges[bag + 1]])


@compiled
def _relevance(pooling, tanh, gate, relevance):
    total = tanh.dtype.type(0)
    if pooling == GATED:
        for unit in range(tanh.shape[0]):
            total += relevance[unit] * (tanh[unit] * gate[unit])
    else:
        for unit in range(tanh.shape[0]):
            total += relevance[unit] * tanh[unit]
    return total


@compiled
def _softmax(values):
    peak, total = values[0], 0.0
    for k in range(values.shape[0]):
        peak = max(peak, values[k])
    for k in range(values.shape[0]):
        values[k] = math.exp(values[k] - peak)
        total += values[k]
    for k in range(values.shape[0]):
        values[k] /= total


@compiled
def weigh(plan, room, n_bags, n_rows, weights):
    """The weights of a weighted sum: attention's, or 1/K."""
    if plan.pooling >= ATTENTION:
        attend(plan, room, n_bags, n_rows, weights)
        return
    for bag in range(n_bags):
        start, end = room.edges[bag], room.edges[bag + 1]
        room.attended[start:end] = 1.0 / (end - start)


@compiled
def retreat_attention(plan, room, n_bags, n_rows, flat, kind, numbers):
    """From slopes along the weights a (in ``relevance_slopes``) to the update of V, U and w."""
    for_tanh, for_gate, for_relevance, width = plan.attention
    for bag in range(n_bags):
        part = slice(room.edges[bag], room.edges[bag + 1])
        _through_softmax(room.attended[part], room.relevance_slopes[part])
    part = slice(for_relevance, for_relevance + width)
    relevance, gradient = flat.weights[part], room.gradient[:width]
    gradient[:] = 0
    for k in range(n_rows):
        slope, tanh, gate = room.relevance_slopes[k], room.tanh[k], room.gate[k]
        if plan.pooling == GATED:
            _through_gate(slope, tanh, gate, relevance, gradient, room.tanh_slopes[k], room.gate_slopes[k])
        else:
            _through_tanh(slope, tanh, relevance, gradient, room.tanh_slopes[k])
    update(kind, numbers, relevance, flat.first[part], flat.second[part], gradient)
    for gated in range(2 if plan.pooling == GATED else 1):  # one call, because each is compiled anew
        start, slopes = (for_gate, room.gate_slopes) if gated else (for_tanh, room.tanh_slopes)
        retreat_projection(plan, room, start, width, slopes, flat, kind, numbers)


@compiled
def _through_softmax(attended, slopes):
    mean = 0.0
    for k in range(attended.shape[0]):
        mean += attended[k] * slopes[k]
    for k in range(attended.shape[0]):
        slopes[k] = attended[k] * (slopes[k] - mean)


@compiled
def _through_tanh(slope, tanh, relevance, gradient, tanh_slopes):
    one = tanh.dtype.type(1)
    for unit in range(tanh.shape[0]):
        gradient[unit] += slope * tanh[unit]
        tanh_slopes[unit] = slope * relevance[unit] * (one - tanh[unit] * tanh[unit])


@compiled
def _through_gate(slope, tanh, gate, relevance, gradient, tanh_slopes, gate_slopes):
    one = tanh.dtype.type(1)
    for unit in range(tanh.shape[0]):
        gradient[unit] += slope * (tanh[unit] * gate[unit])
        along = slope * relevance[unit]
        tanh_slopes[unit] = along * gate[unit] * (one - tanh[unit] * tanh[unit])
        gate_slopes[unit] = along * tanh[unit] * (gate[unit] * (one - gate[unit]))
