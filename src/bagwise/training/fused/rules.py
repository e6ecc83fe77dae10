"""The rules of the optimisers, applied to one row of weights at a time: torch's formulas, in torch's order.

gradient ← gradient + λ w
SGD        m ← μ m + gradient         w ← w − η m
Nesterov   m ← μ m + gradient         w ← w − η (gradient + μ m)
Adam       m ← m + (1 − β₁)(gradient − m)    v ← β₂ v + (1 − β₂) gradient²
           w ← w − η/(1 − β₁ᵗ) · m / (√v/√(1 − β₂ᵗ) + ε)
"""

from typing import NamedTuple

import numpy as np

from bagwise.training.fused.compiling import compiled

SGD, NESTEROV, ADAM = range(3)


class Rule(NamedTuple):
    """An optimiser as plain numbers."""

    kind: int
    learning_rate: float
    momentum: float  # β₁ of Adam
    second_momentum: float  # β₂ of Adam
    epsilon: float
    weight_decay: float


@compiled
def factors(rule, step, real):
    """The factors of one step, counted from 1: η, 1/√(1 − β₂ᵗ), λ, μ, β₂, ε, in the precision of the weights."""
    rate, scale = rule.learning_rate, 1.0
    if rule.kind == ADAM:
        rate = rule.learning_rate / (1.0 - rule.momentum**step)
        scale = 1.0 / np.sqrt(1.0 - rule.second_momentum**step)
    return (
        real(rate),
        real(scale),
        real(rule.weight_decay),
        real(rule.momentum),
        real(rule.second_momentum),
        real(rule.epsilon),
        real(1.0 - rule.momentum),
        real(1.0 - rule.second_momentum),
    )


@compiled
def update(kind, numbers, weights, first, second, gradient):
    """One step for a row of weights and its moments."""
    real = gradient.dtype.type
    update_by_two(kind, numbers, weights, first, second, real(1), gradient, real(0), gradient)


@compiled
def update_by_two(kind, numbers, weights, first, second, a, one, b, two):
    """One step whose gradient is a · one + b · two, which is not written down."""
    rate, scale, decay, momentum, second_momentum, epsilon, share, second_share = numbers
    if kind == ADAM:
        for place in range(weights.shape[0]):
            slope = (a * one[place] + b * two[place]) + decay * weights[place]
            mean = first[place] + share * (slope - first[place])
            square = second_momentum * second[place] + second_share * slope * slope
            first[place] = mean
            second[place] = square
            weights[place] -= rate * mean / (np.sqrt(square) * scale + epsilon)
    elif kind == NESTEROV:
        for place in range(weights.shape[0]):
            slope = (a * one[place] + b * two[place]) + decay * weights[place]
            mean = momentum * first[place] + slope
            first[place] = mean
            weights[place] -= rate * (slope + momentum * mean)
    else:
        for place in range(weights.shape[0]):
            slope = (a * one[place] + b * two[place]) + decay * weights[place]
            mean = momentum * first[place] + slope
            first[place] = mean
            weights[place] -= rate * mean
