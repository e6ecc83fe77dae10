import numpy as np
import pytest
import torch

pytest.importorskip("numba")

from bagwise.training.engines.fused.shared_parameters import SharedParameters
from fused_problems import N_FEATURES, OPTIMIZERS, get_weights, make_layout, problem

STATE = {"sgd": {"momentum_buffer"}, "nesterov": {"momentum_buffer"}, "adam": {"exp_avg", "exp_avg_sq", "step"}}


def share_parameters(given, shape=(N_FEATURES,)):
    layout = make_layout(given, shape)
    return layout, SharedParameters(layout.slots, layout.size, given.optimizer)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_shared_parameters_are_copied_from_torch_and_copied_back_by_store(optimizer):
    given = problem(optimizer=optimizer)
    before = get_weights(given)
    _, shared = share_parameters(given)
    assert np.sort(shared.buffer.weights).tolist() == np.sort(before.numpy()).tolist()
    shared.buffer.weights[:] += 1
    shared.buffer.first_moments[:] += 2
    assert torch.equal(get_weights(given), before), "torch's parameters do not change until they are stored"
    shared.store(3)
    assert torch.equal(get_weights(given), before + 1)
    for parameter in given.model.parameters():
        state = given.optimizer.state[parameter]
        assert state.keys() == STATE[optimizer]
        assert (next(state[name] for name in ("momentum_buffer", "exp_avg") if name in state) == 2).all()
    assert shared.n_steps == (3 if optimizer == "adam" else 0)


def test_shared_parameters_store_no_moments_without_momentum():
    given = problem(optimizer="sgd", momentum=0.0)
    _, shared = share_parameters(given)
    shared.store(1)
    assert all(not state for state in given.optimizer.state.values())


def test_shared_parameters_store_the_matrix_of_a_transposed_slot_transposed():
    layout, shared = share_parameters(problem())
    slot = next(slot for slot in layout.slots if slot.transposed)
    part = shared.buffer.weights[slot.start : slot.start + slot.parameter.numel()]
    np.testing.assert_array_equal(part.reshape(slot.parameter.shape[::-1]).T, slot.parameter.detach().numpy())


def test_shared_parameters_store_the_kernels_of_convolutions_with_channels_last():
    layout, shared = share_parameters(problem(encoder="two stages"), (3, 12, 13))
    slot = next(slot for slot in layout.slots if slot.parameter.ndim == 4)
    part = shared.buffer.weights[slot.start : slot.start + slot.parameter.numel()].reshape(5, 3, 3, 3)
    np.testing.assert_array_equal(part.transpose(0, 3, 1, 2), slot.parameter.detach().numpy())
