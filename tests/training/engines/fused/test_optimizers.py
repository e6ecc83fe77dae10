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


def read_moments(optimizer, parameter):
    """Return the first and second moments of an optimizer; zeros if it has none."""
    state = optimizer.state[parameter]
    first = state.get("exp_avg", state.get("momentum_buffer"))
    second = state.get("exp_avg_sq")
    return [np.zeros(7) if moment is None else moment.numpy().copy() for moment in (first, second)]


@pytest.mark.parametrize(("name", "momentum"), [("sgd", 0.0), ("sgd", 0.9), ("nesterov", 0.9), ("adam", 0.9)])
def test_update_row_matches_the_optimizer_of_torch(name, momentum):
    """Every step starts from the state of torch, so that rounding errors do not accumulate."""
    generator = np.random.default_rng(0)
    settings = TrainingSettings(optimizer=name, weight_decay=0.1, momentum=momentum, learning_rate=0.3)
    parameter = torch.nn.Parameter(torch.from_numpy(generator.normal(size=7)))
    optimizer = settings.build_optimizer([parameter])
    plain_settings = get_optimizer_settings(optimizer, 0.3)
    first_moments, second_moments = np.zeros(7), np.zeros(7)
    for step in range(1, 20):
        weights, gradient = parameter.detach().numpy().copy(), generator.normal(size=7)
        parameter.grad = torch.from_numpy(gradient.copy())
        optimizer.step()
        call_update_row(plain_settings, step, weights, first_moments, second_moments, gradient)
        np.testing.assert_allclose(weights, parameter.detach().numpy(), rtol=1e-14, atol=1e-15)
        moments = read_moments(optimizer, parameter)
        if momentum:
            np.testing.assert_allclose(first_moments, moments[0], rtol=1e-14, atol=1e-15)
        if name == "adam":
            np.testing.assert_allclose(second_moments, moments[1], rtol=1e-14, atol=1e-15)
        first_moments, second_moments = moments
