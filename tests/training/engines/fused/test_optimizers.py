import numpy as np
import pytest
import torch

pytest.importorskip("numba")
from numba import njit

from bagwise.training.engines.fused.engine import get_optimizer_settings
from bagwise.training.engines.fused.optimizers import make_update_rule, update_row
from bagwise.training.settings import TrainingSettings


@njit
def call_update_row(settings, step, weights, first_moments, second_moments, gradient):
    update_row(make_update_rule(settings, step, np.float64), weights, first_moments, second_moments, gradient)


@pytest.mark.parametrize(("name", "momentum"), [("sgd", 0.0), ("sgd", 0.9), ("nesterov", 0.9), ("adam", 0.9)])
def test_update_row_matches_the_optimizer_of_torch(name, momentum):
    generator = np.random.default_rng(0)
    settings = TrainingSettings(optimizer=name, weight_decay=0.1, momentum=momentum, learning_rate=0.3)
    parameter = torch.nn.Parameter(torch.from_numpy(generator.normal(size=7)))
    optimizer = settings.build_optimizer([parameter])
    weights, first_moments, second_moments = parameter.detach().numpy().copy(), np.zeros(7), np.zeros(7)
    plain_settings = get_optimizer_settings(optimizer, 0.3)
    for step in range(1, 20):
        gradient = generator.normal(size=7)
        parameter.grad = torch.from_numpy(gradient.copy())
        optimizer.step()
        call_update_row(plain_settings, step, weights, first_moments, second_moments, gradient)
        np.testing.assert_allclose(weights, parameter.detach().numpy(), rtol=1e-13, atol=1e-14)
