"""The poolings σ: of embeddings, whose pooled values a head reads, and of the instances' scores.

Each has its way back. What is zero in an embedding has no slope, because ReLU or dropout made it zero; so slopes are
written only where something is left.
"""

import math

import numpy as np

from bagwise.training.fused.attending import project, retreat_projection
from bagwise.training.fused.compiling import compiled
from bagwise.training.fused.layers import column_sums
from bagwise.training.fused.losses import log_sigmoid, log_total
from bagwise.training.fused.plan import MAX, MEAN, PART_BIAS, PART_WEIGHTS
from bagwise.training.fused.rules import update
from bagwise.training.fused.views import block


@compiled
def pool_embeddings(plan, room, n_bags):
    """Fill ``pooled``."""
    for bag in range(n_bags):
        pooled = room.pooled[bag]
        pooled[:] = -np.inf if plan.pooling == MAX else 0
        for number in range(plan.first_block, plan.widths.shape[0]):
            offset = plan.columns[number] - plan.columns[plan.first_block]
            values, active = block(room.hidden, plan, room, number), block(room.active, plan, room, number)
            part = pooled[offset : offset + plan.widths[number]]
            for k in range(room.edges[bag], room.edges[bag + 1]):
                if plan.pooling == MAX:
                    raise_to(part, values[k])
                else:
                    for place in range(room.counts[number, k]):
                        part[active[k, place]] += room.attended[k] * values[k, active[k, place]]


@compiled
def raise_to(peaks, row):
    for place in range(peaks.shape[0]):
        if row[place] > peaks[place] or row[place] != row[place]:  # NaN stays
            peaks[place] = row[place]


@compiled
def retreat_embeddings(plan, room, n_bags):
    """From ``pooled_slopes`` to ``back``, and to slopes along the weights of the sum."""
    for bag in range(n_bags):
        for k in range(room.edges[bag], room.edges[bag + 1]):
            room.relevance_slopes[k] = 0
        for number in range(plan.first_block, plan.widths.shape[0]):
            offset = plan.columns[number] - plan.columns[plan.first_block]
            part = slice(offset, offset + plan.widths[number])
            if plan.pooling == MAX:
                _through_max(plan, room, bag, number, room.pooled[bag, part], room.pooled_slopes[bag, part])
            else:
                _through_sum(plan, room, bag, number, room.pooled_slopes[bag, part])


@compiled
def _through_sum(plan, room, bag, number, slopes):
    values, back = block(room.hidden, plan, room, number), block(room.back, plan, room, number)
    active = block(room.active, plan, room, number)
    for k in range(room.edges[bag], room.edges[bag + 1]):
        along = slopes.dtype.type(0)
        for place in range(room.counts[number, k]):
            column = active[k, place]
            along += slopes[column] * values[k, column]
            back[k, column] = room.attended[k] * slopes[column]
        room.relevance_slopes[k] += along


@compiled
def _through_max(plan, room, bag, number, peaks, slopes):
    """Equal winners share the slope."""
    values, back = block(room.hidden, plan, room, number), block(room.back, plan, room, number)
    start, end = room.edges[bag], room.edges[bag + 1]
    for column in range(peaks.shape[0]):
        winners = 0
        for k in range(start, end):
            winners += values[k, column] == peaks[column]
        for k in range(start, end):
            if values[k, column] == peaks[column] and values[k, column] != 0:
                back[k, column] = slopes[column] / winners


@compiled
def pool_scores(plan, room, n_bags, n_rows, weights):
    """Classify the rows, then pool their scores into ``scores``."""
    n_scores, bias = plan.n_scores, plan.parts[0, PART_BIAS]
    project(plan, room, n_rows, plan.parts[0, PART_WEIGHTS], n_scores, weights, room.instance_scores)
    for k in range(n_rows):
        for place in range(n_scores):
            room.instance_scores[k, place] += weights[bias + place]
    for bag in range(n_bags):
        start, end = room.edges[bag], room.edges[bag + 1]
        rows, scores = room.instance_scores[start:end], room.scores[bag]
        if plan.pooling == MAX:
            scores[:] = -np.inf
            for k in range(rows.shape[0]):
                raise_to(scores, rows[k])
        elif plan.pooling == MEAN:
            _mean_probability(rows, scores)
        else:
            scores[:] = 0
            for k in range(rows.shape[0]):
                for place in range(n_scores):
                    scores[place] += room.attended[start + k] * rows[k, place]


@compiled
def log_probability(scores, place):
    """Of class ``place``; of two classes, which have one score, 0 is the second and 1 the first."""
    if scores.shape[0] == 1:
        return log_sigmoid(scores[0] if place == 0 else -scores[0])
    return scores[place] - log_total(scores)


@compiled
def log_sum(rows, place):
    """The logarithm of the sum of a class's probabilities over the rows."""
    peak, total = -np.inf, 0.0
    for k in range(rows.shape[0]):
        peak = max(peak, log_probability(rows[k], place))
    for k in range(rows.shape[0]):
        total += math.exp(log_probability(rows[k], place) - peak)
    return peak + math.log(total)


@compiled
def _mean_probability(rows, scores):
    """The scores of the mean probabilities, through their logarithms."""
    if scores.shape[0] == 1:
        scores[0] = log_sum(rows, 0) - log_sum(rows, 1)
        return
    for place in range(scores.shape[0]):
        scores[place] = log_sum(rows, place) - math.log(rows.shape[0])


@compiled
def retreat_scores(plan, room, n_bags, n_rows, flat, kind, numbers):
    """From ``score_slopes`` to ``back``, with the update of the classifier."""
    for bag in range(n_bags):
        part = slice(room.edges[bag], room.edges[bag + 1])
        rows, slopes, along = room.instance_scores[part], room.instance_slopes[part], room.score_slopes[bag]
        if plan.pooling == MAX:
            _through_highest(rows, room.scores[bag], along, slopes)
        elif plan.pooling == MEAN:
            _through_mean_probability(rows, along, slopes)
        else:
            _through_weights(rows, room.attended[part], along, slopes, room.relevance_slopes[part])
    start, bias, width = plan.parts[0, PART_WEIGHTS], plan.parts[0, PART_BIAS], plan.n_scores
    gradient, part = room.gradient[:width], slice(bias, bias + width)
    column_sums(room.instance_slopes, n_rows, gradient)
    update(kind, numbers, flat.weights[part], flat.first[part], flat.second[part], gradient)
    retreat_projection(plan, room, start, width, room.instance_slopes, flat, kind, numbers)


@compiled
def _through_highest(rows, peaks, along, slopes):
    for place in range(peaks.shape[0]):
        winners = 0
        for k in range(rows.shape[0]):
            winners += rows[k, place] == peaks[place]
        for k in range(rows.shape[0]):
            slopes[k, place] = along[place] / winners if rows[k, place] == peaks[place] else 0


@compiled
def _through_weights(rows, attended, along, slopes, relevance_slopes):
    for k in range(rows.shape[0]):
        relevance_slopes[k] = 0
        for place in range(along.shape[0]):
            relevance_slopes[k] += along[place] * rows[k, place]
            slopes[k, place] = along[place] * attended[k]


@compiled
def _through_mean_probability(rows, along, slopes):
    """An instance's share of the mean probability of a class, times the slope of its logarithm."""
    if along.shape[0] == 1:
        present, absent = log_sum(rows, 0), log_sum(rows, 1)
        for k in range(rows.shape[0]):
            both = log_probability(rows[k], 0) + log_probability(rows[k], 1)
            slopes[k, 0] = along[0] * (math.exp(both - present) + math.exp(both - absent))
        return
    for k in range(rows.shape[0]):
        slopes[k, :] = 0
    for place in range(along.shape[0]):
        total = log_sum(rows, place)
        for k in range(rows.shape[0]):
            share = along[place] * math.exp(log_probability(rows[k], place) - total)
            slopes[k, place] += share
            for other in range(along.shape[0]):
                slopes[k, other] -= share * math.exp(log_probability(rows[k], other))
