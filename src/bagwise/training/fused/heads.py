"""The head g over pooled embeddings: linear parts, each from some columns to some scores.

A plain head is one part. Deep supervision has a part a layer, each with scores of its own; a residual head has a part
a layer too, but all share one set of weights and add up to the same scores.
"""

from bagwise.training.fused.compiling import compiled
from bagwise.training.fused.layers import add, dot
from bagwise.training.fused.plan import PART_BIAS, PART_COLUMN, PART_SCORE, PART_SCORES, PART_WEIGHTS, PART_WIDTH
from bagwise.training.fused.rules import update
from bagwise.training.fused.views import matrix


@compiled
def score(plan, room, n_bags, weights):
    """Fill ``scores`` from ``pooled``."""
    room.scores[:n_bags] = 0
    for part in range(plan.parts.shape[0]):
        column, width = plan.parts[part, PART_COLUMN], plan.parts[part, PART_WIDTH]
        first, count, bias = plan.parts[part, PART_SCORE], plan.parts[part, PART_SCORES], plan.parts[part, PART_BIAS]
        rows = matrix(weights, plan.parts[part, PART_WEIGHTS], count, width)
        for bag in range(n_bags):
            for place in range(count):
                value = dot(rows[place], room.pooled[bag, column : column + width])
                room.scores[bag, first + place] += value + weights[bias + place] if bias >= 0 else value


@compiled
def retreat_head(plan, room, n_bags, flat, kind, numbers):
    """From ``score_slopes`` to ``pooled_slopes``, then the update of the head's weights."""
    room.pooled_slopes[:n_bags] = 0
    for part in range(plan.parts.shape[0]):
        start, bias = plan.parts[part, PART_WEIGHTS], plan.parts[part, PART_BIAS]
        column, width = plan.parts[part, PART_COLUMN], plan.parts[part, PART_WIDTH]
        first, count = plan.parts[part, PART_SCORE], plan.parts[part, PART_SCORES]
        rows, gradients = matrix(flat.weights, start, count, width), matrix(room.head_gradient, start, count, width)
        for bag in range(n_bags):
            pooled, slopes = room.pooled[bag, column : column + width], room.pooled_slopes[bag, column : column + width]
            for place in range(count):
                slope = room.score_slopes[bag, first + place]
                add(slopes, slope, rows[place])
                add(gradients[place], slope, pooled)
                if bias >= 0:
                    room.head_gradient[bias + place] += slope
    for part in range(plan.parts.shape[0]):
        bias, count = plan.parts[part, PART_BIAS], plan.parts[part, PART_SCORES]
        if bias >= 0:  # a part without a bias shares its weights with one that has it
            _update(flat, room, plan.parts[part, PART_WEIGHTS], count * plan.parts[part, PART_WIDTH], kind, numbers)
            _update(flat, room, bias, count, kind, numbers)


@compiled
def _update(flat, room, start, count, kind, numbers):
    part = slice(start, start + count)
    update(kind, numbers, flat.weights[part], flat.first[part], flat.second[part], room.head_gradient[part])
    room.head_gradient[part] = 0
