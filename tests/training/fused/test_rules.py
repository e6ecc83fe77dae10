import numpy as np
import pytest
import torch

pytest.importorskip("numba")
from numba import njit

from bagwise.training import TrainingSettings
from bagwise.training.fused.engine import rule_of
from bagwise.training.fused.rules import Rule, factors, update


@njit
def step(rule, number, weights, first, second, gradient):
    update(rule.kind, factors(rule, number, np.float64), weights, first, second, gradient)


@pytest.mark.parametrize(("name", "momentum"), [("sgd", 0.0), ("sgd", 0.9), ("nesterov", 0.9), ("adam", 0.9)])
def test_steps_are_those_of_torchs_optimizer(name, momentum):
    generator = np.random.default_rng(0)
    settings = TrainingSettings(optimizer=name, weight_decay=0.1, momentum=momentum, learning_rate=0.3)
    parameter = torch.nn.Parameter(torch.from_numpy(generator.normal(size=7)))
    optimizer = settings.build_optimizer([parameter])
    weights, first, second = parameter.detach().numpy().copy(), np.zeros(7), np.zeros(7)
    rule = rule_of(optimizer, 0.3)
    for number in range(1, 20):
        gradient = generator.normal(size=7)
        parameter.grad = torch.from_numpy(gradient.copy())
        optimizer.step()
        step(rule, number, weights, first, second, gradient)
        np.testing.assert_allclose(weights, parameter.detach().numpy(), rtol=1e-13, atol=1e-14)


def test_the_learning_rate_is_the_one_of_the_epoch():
    optimizer = TrainingSettings(optimizer="adam", learning_rate=1.0).build_optimizer(
        [torch.nn.Parameter(torch.ones(1))]
    )
    assert isinstance(rule_of(optimizer, 0.25), Rule)
    assert rule_of(optimizer, 0.25).learning_rate == 0.25
