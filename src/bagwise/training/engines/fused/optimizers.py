"""Optimizer steps for one row of weights at a time, with the formulas and the order of operations of torch.

g ← g + λ w
SGD        m ← μ m + g                w ← w − η m
Nesterov   m ← μ m + g                w ← w − η (g + μ m)
Adam       m ← m + (1 − β₁)(g − m)    v ← β₂ v + (1 − β₂) g²
           w ← w − η/(1 − β₁ᵗ) · m / (√v/√(1 − β₂ᵗ) + ε)
"""

from typing import NamedTuple

import numpy as np

from bagwise.training.engines.fused.compilation import compile_kernel

SGD, NESTEROV, ADAM = range(3)


class OptimizerSettings(NamedTuple):
    """Settings of a torch optimizer as numbers."""

    optimizer: int  # SGD, NESTEROV or ADAM
    learning_rate: float
    momentum: float  # β₁ of Adam
    momentum_complement: float  # 1 − β₁
    second_momentum: float  # β₂ of Adam
    second_complement: float  # 1 − β₂, stored because LLVM may change β₂ v + (1 − β₂) g² into g² + β₂ (v − g²)
    epsilon: float
    weight_decay: float


class UpdateRule(NamedTuple):
    """Factors of one step, in the precision of the weights."""

    optimizer: int
    learning_rate: float  # η, or η/(1 − β₁ᵗ) of Adam
    second_scale: float  # 1/√(1 − β₂ᵗ)
    weight_decay: float  # λ
    momentum: float  # μ, or β₁
    second_momentum: float  # β₂
    epsilon: float
    momentum_complement: float  # 1 − β₁
    second_complement: float  # 1 − β₂


@compile_kernel
def make_update_rule(settings, step, dtype):
    """Return the factors of one step; step numbers start at 1."""
    learning_rate, second_scale = settings.learning_rate, 1.0
    if settings.optimizer == ADAM:
        power = np.float64(step)  # powers of floats are rounded as in torch, and 1 − β₂ᵗ amplifies their error
        learning_rate = settings.learning_rate / (1.0 - settings.momentum**power)
        second_scale = 1.0 / np.sqrt(1.0 - settings.second_momentum**power)
    return UpdateRule(
        optimizer=settings.optimizer,
        learning_rate=dtype(learning_rate),
        second_scale=dtype(second_scale),
        weight_decay=dtype(settings.weight_decay),
        momentum=dtype(settings.momentum),
        second_momentum=dtype(settings.second_momentum),
        epsilon=dtype(settings.epsilon),
        momentum_complement=dtype(settings.momentum_complement),
        second_complement=dtype(settings.second_complement),
    )


@compile_kernel
def update_slice(rule, parameters, start, gradient):
    """Update the contiguous parameters from ``start`` on by their gradient."""
    part = slice(start, start + gradient.shape[0])
    weights = parameters.weights[part]
    update_row(rule, weights, parameters.first_moments[part], parameters.second_moments[part], gradient)


@compile_kernel
def update_row(rule, weights, first_moments, second_moments, gradient):
    """Update one row of weights and its moments."""
    dtype = gradient.dtype.type
    update_row_from_two(rule, weights, first_moments, second_moments, dtype(1), gradient, dtype(0), gradient)


@compile_kernel
def update_row_from_two(rule, weights, first_moments, second_moments, a, row_a, b, row_b):
    """Update one row of weights by the gradient a · row_a + b · row_b, without storing it."""
    rate, decay, momentum = rule.learning_rate, rule.weight_decay, rule.momentum
    if rule.optimizer == ADAM:
        for i in range(weights.shape[0]):
            gradient = (a * row_a[i] + b * row_b[i]) + decay * weights[i]
            mean = first_moments[i] + rule.momentum_complement * (gradient - first_moments[i])
            square = rule.second_momentum * second_moments[i] + rule.second_complement * gradient * gradient
            first_moments[i] = mean
            second_moments[i] = square
            weights[i] -= rate * mean / (np.sqrt(square) * rule.second_scale + rule.epsilon)
    elif rule.optimizer == NESTEROV:
        for i in range(weights.shape[0]):
            gradient = (a * row_a[i] + b * row_b[i]) + decay * weights[i]
            mean = momentum * first_moments[i] + gradient
            first_moments[i] = mean
            weights[i] -= rate * (gradient + momentum * mean)
    else:
        for i in range(weights.shape[0]):
            gradient = (a * row_a[i] + b * row_b[i]) + decay * weights[i]
            mean = momentum * first_moments[i] + gradient
            first_moments[i] = mean
            weights[i] -= rate * mean
