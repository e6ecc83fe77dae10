"""The head g, applied to pooled embeddings, and the loss of its scores, forward and backward.

A head is a list of linear parts. Each part maps some columns of the embedding to some scores. A linear head has one
part. Deep supervision has one part per layer, each with its own scores. A residual head has one part per layer; all
parts share one set of weights, and their results are added.

The likelihood is Bernoulli or Categorical. With several sets of scores, their losses are added:

    Bernoulli     L = log(1 + exp(−y s)), y = ±1            ∂L/∂s = −y sigm(−y s)
    Categorical   L = log Σ exp(s_c) − s_y                  ∂L/∂s_c = softmax(s)_c − [c = y]
"""

import math

import numpy as np

from bagwise.training.engines.fused.compilation import compile_kernel, view_matrix
from bagwise.training.engines.fused.dense import add_scaled, dot_product
from bagwise.training.engines.fused.model_tables import (
    HEAD_BIAS,
    HEAD_COLUMN,
    HEAD_SCORE,
    HEAD_SCORES,
    HEAD_WEIGHTS,
    HEAD_WIDTH,
)
from bagwise.training.engines.fused.optimizers import update_slice


@compile_kernel
def head_forward(tables, workspace, n_bags, weights):
    """Compute ``scores`` from ``pooled``."""
    workspace.scores[:n_bags] = 0
    for part in range(tables.head.shape[0]):
        column, width = tables.head[part, HEAD_COLUMN], tables.head[part, HEAD_WIDTH]
        first, count, bias = tables.head[part, HEAD_SCORE], tables.head[part, HEAD_SCORES], tables.head[part, HEAD_BIAS]
        matrix = view_matrix(weights, tables.head[part, HEAD_WEIGHTS], count, width)
        for bag in range(n_bags):
            for i in range(count):
                value = dot_product(matrix[i], workspace.pooled[bag, column : column + width])
                workspace.scores[bag, first + i] += value + weights[bias + i] if bias >= 0 else value


@compile_kernel
def head_backward(tables, workspace, n_bags, parameters, rule):
    """Compute ``pooled_gradients`` from ``score_gradients``, then update the parameters of the head."""
    workspace.pooled_gradients[:n_bags] = 0
    for part in range(tables.head.shape[0]):
        start, bias = tables.head[part, HEAD_WEIGHTS], tables.head[part, HEAD_BIAS]
        column, width = tables.head[part, HEAD_COLUMN], tables.head[part, HEAD_WIDTH]
        first, count = tables.head[part, HEAD_SCORE], tables.head[part, HEAD_SCORES]
        matrix = view_matrix(parameters.weights, start, count, width)
        matrix_gradients = view_matrix(workspace.head_gradients, start, count, width)
        for bag in range(n_bags):
            pooled = workspace.pooled[bag, column : column + width]
            pooled_gradients = workspace.pooled_gradients[bag, column : column + width]
            for i in range(count):
                gradient = workspace.score_gradients[bag, first + i]
                add_scaled(pooled_gradients, gradient, matrix[i])
                add_scaled(matrix_gradients[i], gradient, pooled)
                if bias >= 0:
                    workspace.head_gradients[bias + i] += gradient
    for part in range(tables.head.shape[0]):
        bias, count = tables.head[part, HEAD_BIAS], tables.head[part, HEAD_SCORES]
        if bias >= 0:  # parts without bias share their weights with the part that has one
            _update(tables.head[part, HEAD_WEIGHTS], count * tables.head[part, HEAD_WIDTH], workspace, parameters, rule)
            _update(bias, count, workspace, parameters, rule)


@compile_kernel
def _update(start, count, workspace, parameters, rule):
    """Update parameters by their accumulated gradients, and set the gradients to zero."""
    gradient = workspace.head_gradients[start : start + count]
    update_slice(rule, parameters, start, gradient)
    gradient[:] = 0


@compile_kernel
def evaluate_scores(scores, target, n_sets, n_scores, gradients):
    """Return the loss of a bag, summed over its sets, and whether its predicted class is wrong; write ``gradients``."""
    loss = 0.0
    for index in range(n_sets):
        part = slice(index * n_scores, (index + 1) * n_scores)
        loss += compute_loss(scores[part], target, gradients[part])
    return loss, predict_class(scores, n_sets, n_scores) != target


@compile_kernel
def compute_loss(scores, target, gradients):
    """Return the loss of one set of scores; write ``gradients``."""
    if scores.shape[0] == 1:
        sign = 2.0 * target - 1.0
        margin = sign * scores[0]
        gradients[0] = -sign * math.exp(log_sigmoid(-margin))
        return -log_sigmoid(margin)
    total = log_sum_exp(scores)
    for i in range(scores.shape[0]):
        gradients[i] = math.exp(scores[i] - total) - (i == target)
    return total - scores[target]


@compile_kernel
def predict_class(scores, n_sets, n_scores):
    """Return the class with the highest probability, averaged over the sets; the first class in case of ties."""
    if n_scores == 1:
        total = 0.0
        for index in range(n_sets):
            total += math.tanh(0.5 * scores[index])  # p − (1 − p)
        return 1 if total > 0 else 0
    best, highest = 0, -1.0
    for i in range(n_scores):
        probability = 0.0
        for index in range(n_sets):
            part = scores[index * n_scores : (index + 1) * n_scores]
            probability += math.exp(part[i] - log_sum_exp(part))
        if probability > highest:
            best, highest = i, probability
    return best


@compile_kernel
def log_sigmoid(score):
    """Return log sigm(s) without overflow."""
    return min(score, 0.0) - math.log1p(math.exp(-abs(score)))


@compile_kernel
def log_sum_exp(scores):
    """Return log Σ exp(s_c) without overflow."""
    maximum = -np.inf
    for score in scores:
        maximum = max(maximum, score)
    total = 0.0
    for score in scores:
        total += math.exp(score - maximum)
    return maximum + math.log(total)
