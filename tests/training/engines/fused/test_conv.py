import numpy as np
import pytest
import torch

pytest.importorskip("numba")

from numba import njit

from bagwise.nn.dropout import StreamPosition, set_stream_position
from bagwise.training.engines.fused.conv import list_gradients
from fused_problems import BATCH, CNNS, STEP, get_batch_tensors, make_layout, problem, run_module, run_one_step


@pytest.mark.parametrize("encoder", CNNS)
def test_conv_forward_matches_the_maps_of_torch_stage_by_stage(encoder):
    given = problem(encoder=encoder)
    workspace, n_rows = run_one_step(given)
    preprocessing, layers = given.model.encoder
    expected, start = run_module(given, preprocessing, get_batch_tensors(given)[0]), 0
    for end in range(3, len(layers), 3):
        expected = run_module(given, layers[end - 3 : end], expected)
        if expected.ndim != 4:
            break
        size = expected[0].numel()
        maps = workspace.conv.maps[start : start + n_rows * size]
        maps = maps.reshape(n_rows, *expected.shape[2:], expected.shape[1]).transpose(0, 3, 1, 2)
        np.testing.assert_allclose(maps, expected.numpy(), rtol=1e-11, atol=1e-13)
        assert 0.1 < (expected > 0).double().mean() < 1
        start += len(workspace.instances) * size
    assert start > 0


@pytest.mark.parametrize("encoder", CNNS)
def test_flatten_maps_matches_the_order_of_torch(encoder):
    given = problem(encoder=encoder)
    workspace, n_rows = run_one_step(given)
    preprocessing, layers = given.model.encoder
    n_parts = next(index for index, part in enumerate(layers) if type(part).__name__ == "Flatten") + 1
    parts = layers if encoder == "one stage" else layers[:n_parts]  # in which dropout follows Flatten
    expected = run_module(given, parts, run_module(given, preprocessing, get_batch_tensors(given)[0])).numpy()
    block = workspace.activations[: expected.size].reshape(n_rows, -1)
    np.testing.assert_allclose(block, expected, rtol=1e-11, atol=1e-13)


def test_conv_backward_matches_the_map_gradients_of_autograd():
    given = problem(encoder="two stages", pooling="mean")
    workspace, n_rows = run_one_step(given)
    preprocessing, layers = given.model.encoder
    set_stream_position(given.model, StreamPosition(given.seed, STEP))
    rows, offsets = get_batch_tensors(given)
    maps = layers[:3](preprocessing(rows)).detach().requires_grad_()
    scores = given.model.head(given.model.pooling(layers[3:](maps), offsets).values)
    losses = given.likelihood.loss(scores, torch.from_numpy(given.task.targets[BATCH]))
    (losses * torch.from_numpy(given.task.importance[BATCH])).mean().backward()
    gradients = workspace.conv.map_gradients[: maps.numel()]
    gradients = gradients.reshape(n_rows, *maps.shape[2:], maps.shape[1]).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(gradients, maps.grad.numpy(), rtol=1e-9, atol=1e-15)
    assert np.count_nonzero(gradients) > n_rows


@njit
def call_list_gradients(stage, map_index, maps, winners, gradients, conv):
    return list_gradients(stage, map_index, maps, winners, gradients, conv)


def test_list_gradients_lists_only_positive_maxima():
    given = problem(encoder="two stages", pooling="mean")
    conv = run_one_step(given)[0].conv
    stage = make_layout(given, (3, 12, 13)).tables.conv.stages[0]
    gradients = np.random.default_rng(0).normal(size=125)
    maps, winners = (np.ascontiguousarray(values[:125]) for values in (conv.maps, conv.winners))
    counts = []
    for map_index in range(5):
        count, total = call_list_gradients(stage, map_index, maps, winners, gradients, conv)
        positive = np.flatnonzero(maps.reshape(25, 5)[:, map_index])
        expected = gradients.reshape(25, 5)[positive, map_index]
        assert total == pytest.approx(expected.sum())
        np.testing.assert_array_equal(conv.listed_gradients[:count], expected)
        rows, columns = np.divmod(positive, 5)
        down, across = np.divmod(winners.reshape(25, 5)[positive, map_index], 2)
        windows = 3 * ((2 * rows + down) * 13 + 2 * columns + across)
        np.testing.assert_array_equal(conv.listed_windows[:count], windows)
        counts.append(count)
    assert 0 < sum(counts) < 125
