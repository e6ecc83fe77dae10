import numpy as np
import pytest
import torch

from bagwise.training.fused.layout import Layout
from bagwise.training.fused.reach import take_apart
from bagwise.training.fused.sharing import Shared
from fused_problems import OPTIMIZERS, problem, weights

NAMES = {"sgd": {"momentum_buffer"}, "nesterov": {"momentum_buffer"}, "adam": {"exp_avg", "exp_avg_sq", "step"}}


def share(given):
    layout = Layout(take_apart(given.model, given.likelihood), given.model, given.likelihood, (5,))
    return layout, Shared(layout.slots, layout.size, given.optimizer)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_weights_and_moments_go_there_and_back(optimizer):
    given = problem(optimizer=optimizer)
    before = weights(given)
    _, shared = share(given)
    assert np.sort(shared.flat.weights).tolist() == np.sort(before.numpy()).tolist()
    shared.flat.weights[:] += 1
    shared.flat.first[:] += 2
    assert torch.equal(weights(given), before), "torch's are left alone until they are stored"
    shared.store(3)
    assert torch.equal(weights(given), before + 1)
    for parameter in given.model.parameters():
        state = given.optimizer.state[parameter]
        assert state.keys() == NAMES[optimizer]
        assert (next(state[name] for name in ("momentum_buffer", "exp_avg") if name in state) == 2).all()
    assert shared.done == (3 if optimizer == "adam" else 0)


def test_a_matrix_that_lies_input_by_input_is_transposed():
    layout, shared = share(problem())
    slot = next(slot for slot in layout.slots if slot.transposed)
    part = shared.flat.weights[slot.start : slot.start + slot.parameter.numel()]
    np.testing.assert_array_equal(part.reshape(slot.parameter.shape[::-1]).T, slot.parameter.detach().numpy())


def test_without_momentum_nothing_is_kept():
    given = problem(optimizer="sgd", momentum=0.0)
    _, shared = share(given)
    shared.store(1)
    assert all(not state for state in given.optimizer.state.values())


def test_the_window_of_a_convolution_lies_row_by_row_with_its_channels_side_by_side():
    given = problem(encoder="two stages")
    layout = Layout(take_apart(given.model, given.likelihood), given.model, given.likelihood, (3, 12, 13))
    shared = Shared(layout.slots, layout.size, given.optimizer)
    slot = next(slot for slot in layout.slots if slot.parameter.ndim == 4)
    part = shared.flat.weights[slot.start : slot.start + slot.parameter.numel()].reshape(5, 3, 3, 3)
    np.testing.assert_array_equal(part.transpose(0, 3, 1, 2), slot.parameter.detach().numpy())
