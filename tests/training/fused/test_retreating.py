import numpy as np
import pytest
import torch

pytest.importorskip("numba")
from numba import njit

from bagwise.places import Place, set_place
from bagwise.training.fused.layout import Layout
from bagwise.training.fused.reach import take_apart
from bagwise.training.fused.retreating import list_slopes
from fused_problems import BATCH, STEP, look, packed, problem


def test_slopes_along_the_maps_of_the_first_stage_are_autograds():
    given = problem(encoder="two stages", pooling="mean")
    room, n_rows = look(given)
    prepare, layers = given.model.encoder
    set_place(given.model, Place(given.seed, STEP))
    rows, offsets = packed(given)
    maps = layers[:3](prepare(rows)).detach().requires_grad_()
    scores = given.model.head(given.model.pooling(layers[3:](maps), offsets).values)
    losses = given.likelihood.loss(scores, torch.from_numpy(given.task.targets[BATCH]))
    (losses * torch.from_numpy(given.task.importance[BATCH])).mean().backward()
    found = room.stages.slopes[: maps.numel()].reshape(n_rows, *maps.shape[2:], maps.shape[1]).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(found, maps.grad.numpy(), rtol=1e-9, atol=1e-15)
    assert np.count_nonzero(found) > n_rows


@njit
def listed(stage, number, maps, winners, slopes, work):
    return list_slopes(stage, number, maps, winners, slopes, work)


def test_only_the_winners_that_relu_left_are_listed():
    given = problem(encoder="two stages", pooling="mean")
    work = look(given)[0].stages
    stage = Layout(
        take_apart(given.model, given.likelihood), given.model, given.likelihood, (3, 12, 13)
    ).plan.stages.table[0]
    slopes = np.random.default_rng(0).normal(size=125)
    maps, winners = (np.ascontiguousarray(values[:125]) for values in (work.maps, work.winners))
    found = []
    for number in range(5):
        count, total = listed(stage, number, maps, winners, slopes, work)
        left = np.flatnonzero(maps.reshape(25, 5)[:, number])
        assert total == pytest.approx(slopes.reshape(25, 5)[left, number].sum())
        np.testing.assert_array_equal(work.slopes_of_map[:count], slopes.reshape(25, 5)[left, number])
        rows, columns = np.divmod(left, 5)
        down, across = np.divmod(winners.reshape(25, 5)[left, number], 2)
        np.testing.assert_array_equal(work.windows[:count], 3 * ((2 * rows + down) * 13 + 2 * columns + across))
        found.append(count)
    assert 0 < sum(found) < 125
