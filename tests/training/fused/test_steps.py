import numpy as np
import pytest
import torch

pytest.importorskip("numba")
from bagwise.training.fused.engine import FusedEngine
from fused_problems import BATCH, STEP, packed, problem, weights, with_torch


def test_sums_are_those_of_the_likelihood_over_the_bags():
    given = problem(n_classes=3)
    sums = FusedEngine(given).run([BATCH], STEP, 0.01)
    fresh = problem(n_classes=3)
    scores = with_torch(fresh, fresh.model, *packed(fresh)).scores
    targets = torch.from_numpy(fresh.task.targets[BATCH])
    expected = (fresh.likelihood.loss(scores, targets).numpy() * fresh.task.importance[BATCH]).sum()
    assert sums.loss == pytest.approx(expected, rel=1e-12)
    assert sums.errors == fresh.likelihood.errors(scores, targets).sum().item()


def test_a_step_of_size_zero_changes_nothing():
    given = problem()
    before = weights(given)
    FusedEngine(given).run([BATCH], STEP, 0.0)
    assert torch.equal(weights(given), before)


def test_the_order_of_bags_within_a_batch_does_not_matter_without_dropout():
    ends = []
    for batch in (BATCH, BATCH[::-1].copy()):
        given = problem(dropout=0.0)
        FusedEngine(given).run([batch], 0, 0.01)
        ends.append(weights(given))
    torch.testing.assert_close(*ends, rtol=1e-10, atol=1e-12)
    assert not np.array_equal(BATCH, BATCH[::-1])
