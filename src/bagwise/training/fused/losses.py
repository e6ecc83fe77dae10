"""Losses, errors and slopes of one bag's scores: Bernoulli and Categorical, and several sets of either side by side.

Bernoulli     loss = log(1 + exp(−y s)), y = ±1            slope = −y sigm(−y s)
Categorical   loss = log Σ exp(s_c) − s_y                  slope_c = softmax(s)_c − [c = y]
"""

import math

import numpy as np

from bagwise.training.fused.compiling import compiled


@compiled
def log_sigmoid(score):
    """log sigm(s), whatever the size of s."""
    return min(score, 0.0) - math.log1p(math.exp(-abs(score)))


@compiled
def log_total(scores):
    """log Σ exp."""
    peak = -np.inf
    for score in scores:
        peak = max(peak, score)
    total = 0.0
    for score in scores:
        total += math.exp(score - peak)
    return peak + math.log(total)


@compiled
def loss_of(scores, target, slopes):
    """The loss of one set of scores; its slopes are written."""
    if scores.shape[0] == 1:
        sign = 2.0 * target - 1.0
        margin = sign * scores[0]
        slopes[0] = -sign * math.exp(log_sigmoid(-margin))
        return -log_sigmoid(margin)
    total = log_total(scores)
    for place in range(scores.shape[0]):
        slopes[place] = math.exp(scores[place] - total) - (place == target)
    return total - scores[target]


@compiled
def likeliest(scores, n_sets, n_scores):
    """The class of the highest probability, averaged over the sets; the first of equals."""
    if n_scores == 1:
        odds = 0.0
        for number in range(n_sets):
            odds += math.tanh(0.5 * scores[number])  # p − (1 − p)
        return 1 if odds > 0 else 0
    best, highest = 0, -1.0
    for place in range(n_scores):
        probability = 0.0
        for number in range(n_sets):
            part = scores[number * n_scores : (number + 1) * n_scores]
            probability += math.exp(part[place] - log_total(part))
        if probability > highest:
            best, highest = place, probability
    return best


@compiled
def judge(scores, target, n_sets, n_scores, slopes):
    """The loss of a bag, the sum over its sets, with slopes; and whether its likeliest class is wrong."""
    loss = 0.0
    for number in range(n_sets):
        part = slice(number * n_scores, (number + 1) * n_scores)
        loss += loss_of(scores[part], target, slopes[part])
    return loss, likeliest(scores, n_sets, n_scores) != target
