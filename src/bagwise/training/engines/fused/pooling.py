"""Poolings σ of embeddings and of instance scores, forward and backward.

The gradient of an embedding is needed only where its value is not zero, because zeros result from ReLU or dropout.
Therefore gradients are written only there.
"""

import math

import numpy as np

from bagwise.training.engines.fused.attention import project_backward, project_forward
from bagwise.training.engines.fused.compilation import compile_kernel, view_block
from bagwise.training.engines.fused.dense import sum_columns
from bagwise.training.engines.fused.heads import log_sigmoid, log_sum_exp
from bagwise.training.engines.fused.model_tables import HEAD_BIAS, HEAD_WEIGHTS, MAX, MEAN
from bagwise.training.engines.fused.optimizers import update_slice


@compile_kernel
def pool_embeddings(tables, workspace, n_bags):
    """Compute ``pooled`` from the activations and the instance weights."""
    for bag in range(n_bags):
        pooled = workspace.pooled[bag]
        pooled[:] = -np.inf if tables.pooling == MAX else 0
        for block in range(tables.first_pooled_block, tables.block_widths.shape[0]):
            start = tables.block_starts[block] - tables.block_starts[tables.first_pooled_block]
            values = view_block(workspace.activations, tables, workspace, block)
            columns = view_block(workspace.nonzero_columns, tables, workspace, block)
            part = pooled[start : start + tables.block_widths[block]]
            for k in range(workspace.offsets[bag], workspace.offsets[bag + 1]):
                if tables.pooling == MAX:
                    take_maximum(part, values[k])
                else:
                    for i in range(workspace.n_nonzero_columns[block, k]):
                        part[columns[k, i]] += workspace.instance_weights[k] * values[k, columns[k, i]]


@compile_kernel
def pool_embeddings_backward(tables, workspace, n_bags):
    """Propagate ``pooled_gradients`` to the activations and to the instance weights."""
    for bag in range(n_bags):
        for k in range(workspace.offsets[bag], workspace.offsets[bag + 1]):
            workspace.instance_weight_gradients[k] = 0
        for block in range(tables.first_pooled_block, tables.block_widths.shape[0]):
            start = tables.block_starts[block] - tables.block_starts[tables.first_pooled_block]
            part = slice(start, start + tables.block_widths[block])
            pooled, gradients = workspace.pooled[bag, part], workspace.pooled_gradients[bag, part]
            if tables.pooling == MAX:
                _max_backward(tables, workspace, bag, block, pooled, gradients)
            else:
                _weighted_sum_backward(tables, workspace, bag, block, gradients)


@compile_kernel
def take_maximum(maxima, row):
    """Compute maxima = max(maxima, row) in place; the maximum of NaN and any value is NaN."""
    for i in range(maxima.shape[0]):
        if row[i] > maxima[i] or row[i] != row[i]:
            maxima[i] = row[i]


@compile_kernel
def _max_backward(tables, workspace, bag, block, maxima, gradients):
    """Propagate the gradients of the maxima; ties share the gradient equally."""
    values = view_block(workspace.activations, tables, workspace, block)
    value_gradients = view_block(workspace.activation_gradients, tables, workspace, block)
    start, end = workspace.offsets[bag], workspace.offsets[bag + 1]
    for column in range(maxima.shape[0]):
        n_equal = 0
        for k in range(start, end):
            n_equal += values[k, column] == maxima[column]
        for k in range(start, end):
            if values[k, column] == maxima[column] and values[k, column] != 0:
                value_gradients[k, column] = gradients[column] / n_equal


@compile_kernel
def _weighted_sum_backward(tables, workspace, bag, block, gradients):
    values = view_block(workspace.activations, tables, workspace, block)
    value_gradients = view_block(workspace.activation_gradients, tables, workspace, block)
    columns = view_block(workspace.nonzero_columns, tables, workspace, block)
    for k in range(workspace.offsets[bag], workspace.offsets[bag + 1]):
        weight_gradient = gradients.dtype.type(0)
        for i in range(workspace.n_nonzero_columns[block, k]):
            column = columns[k, i]
            weight_gradient += gradients[column] * values[k, column]
            value_gradients[k, column] = workspace.instance_weights[k] * gradients[column]
        workspace.instance_weight_gradients[k] += weight_gradient


@compile_kernel
def pool_scores(tables, workspace, n_bags, n_rows, weights):
    """Classify the instances, then pool their scores into ``scores``."""
    n_scores, bias = tables.n_scores, tables.head[0, HEAD_BIAS]
    instance_scores = workspace.instance_scores
    project_forward(tables, workspace, n_rows, tables.head[0, HEAD_WEIGHTS], n_scores, weights, instance_scores)
    for k in range(n_rows):
        for i in range(n_scores):
            instance_scores[k, i] += weights[bias + i]
    for bag in range(n_bags):
        start, end = workspace.offsets[bag], workspace.offsets[bag + 1]
        rows, scores = instance_scores[start:end], workspace.scores[bag]
        if tables.pooling == MAX:
            scores[:] = -np.inf
            for k in range(rows.shape[0]):
                take_maximum(scores, rows[k])
        elif tables.pooling == MEAN:
            _mean_probability_forward(rows, scores)
        else:
            scores[:] = 0
            for k in range(rows.shape[0]):
                for i in range(n_scores):
                    scores[i] += workspace.instance_weights[start + k] * rows[k, i]


@compile_kernel
def pool_scores_backward(tables, workspace, n_bags, n_rows, parameters, rule):
    """Propagate ``score_gradients`` to activations and instance weights, and update the instance classifier."""
    for bag in range(n_bags):
        part = slice(workspace.offsets[bag], workspace.offsets[bag + 1])
        rows, row_gradients = workspace.instance_scores[part], workspace.instance_score_gradients[part]
        gradients = workspace.score_gradients[bag]
        if tables.pooling == MAX:
            _score_max_backward(rows, workspace.scores[bag], gradients, row_gradients)
        elif tables.pooling == MEAN:
            _mean_probability_backward(rows, gradients, row_gradients)
        else:
            weights, weight_gradients = workspace.instance_weights[part], workspace.instance_weight_gradients[part]
            _score_sum_backward(rows, weights, gradients, row_gradients, weight_gradients)
    width, row_gradient = tables.n_scores, workspace.row_gradient[: tables.n_scores]
    sum_columns(workspace.instance_score_gradients, n_rows, row_gradient)
    update_slice(rule, parameters, tables.head[0, HEAD_BIAS], row_gradient)
    start, score_gradients = tables.head[0, HEAD_WEIGHTS], workspace.instance_score_gradients
    project_backward(tables, workspace, start, width, score_gradients, parameters, rule)


@compile_kernel
def _score_max_backward(rows, maxima, gradients, row_gradients):
    """Propagate the gradients of the maxima; ties share the gradient equally."""
    for i in range(maxima.shape[0]):
        n_equal = 0
        for k in range(rows.shape[0]):
            n_equal += rows[k, i] == maxima[i]
        for k in range(rows.shape[0]):
            row_gradients[k, i] = gradients[i] / n_equal if rows[k, i] == maxima[i] else 0


@compile_kernel
def _score_sum_backward(rows, weights, gradients, row_gradients, weight_gradients):
    for k in range(rows.shape[0]):
        weight_gradients[k] = 0
        for i in range(gradients.shape[0]):
            weight_gradients[k] += gradients[i] * rows[k, i]
            row_gradients[k, i] = gradients[i] * weights[k]


@compile_kernel
def _mean_probability_forward(rows, scores):
    """Compute the scores of the mean probabilities in the log domain."""
    if scores.shape[0] == 1:
        scores[0] = log_sum(rows, 0) - log_sum(rows, 1)
        return
    for i in range(scores.shape[0]):
        scores[i] = log_sum(rows, i) - math.log(rows.shape[0])


@compile_kernel
def _mean_probability_backward(rows, gradients, row_gradients):
    """Compute the gradients of instance scores from the share of each instance in the mean probability of a class."""
    if gradients.shape[0] == 1:
        log_positive, log_negative = log_sum(rows, 0), log_sum(rows, 1)
        for k in range(rows.shape[0]):
            both = log_probability(rows[k], 0) + log_probability(rows[k], 1)
            row_gradients[k, 0] = gradients[0] * (math.exp(both - log_positive) + math.exp(both - log_negative))
        return
    for k in range(rows.shape[0]):
        row_gradients[k, :] = 0
    for i in range(gradients.shape[0]):
        total = log_sum(rows, i)
        for k in range(rows.shape[0]):
            share = gradients[i] * math.exp(log_probability(rows[k], i) - total)
            row_gradients[k, i] += share
            for j in range(gradients.shape[0]):
                row_gradients[k, j] -= share * math.exp(log_probability(rows[k], j))


@compile_kernel
def log_sum(rows, index):
    """Return the logarithm of the sum over the rows of the probabilities of a class."""
    maximum, total = -np.inf, 0.0
    for k in range(rows.shape[0]):
        maximum = max(maximum, log_probability(rows[k], index))
    for k in range(rows.shape[0]):
        total += math.exp(log_probability(rows[k], index) - maximum)
    return maximum + math.log(total)


@compile_kernel
def log_probability(scores, index):
    """Return the log-probability of a class; with a single score, index 0 is the positive class and 1 the negative."""
    if scores.shape[0] == 1:
        return log_sigmoid(scores[0] if index == 0 else -scores[0])
    return scores[index] - log_sum_exp(scores)
