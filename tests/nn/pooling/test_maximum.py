"""Tests of max pooling (eq. 5), zₘ = maxₖ hₖₘ, and log-sum-exp pooling, zₘ = 1/r log( 1/K Σₖ exp(r hₖₘ) )."""

import math

import pytest
import torch

from bagwise.errors import InputError
from bagwise.nn.pooling.maximum import LogSumExp, Max
from layouts import offsets_with_neighbours
from unchecked import unchecked

ONE_BAG = torch.tensor([0, 4])


def test_max_is_the_largest_value_of_each_column():
    h = torch.randn(4, 3, dtype=torch.float64)
    expected = torch.tensor([[max(float(h[k, m]) for k in range(4)) for m in range(3)]], dtype=torch.float64)
    assert torch.equal(Max()(h, ONE_BAG).values, expected)


def test_max_weight_is_the_share_of_columns_with_the_maximum():
    h = torch.tensor([[9.0, 0.0, 0.0, 1.0], [0.0, 9.0, 9.0, 2.0], [1.0, 1.0, 1.0, 9.0], [0.0, 0.0, 0.0, 0.0]])
    assert Max()(h, ONE_BAG).weights.ravel().tolist() == [0.25, 0.5, 0.25, 0.0]


def test_max_weight_is_split_among_ties():
    h = torch.tensor([[5.0, 1.0], [5.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    expected = torch.tensor([(1 / 2 + 1 / 3) / 2, 1 / 4, 1 / 6, 1 / 6])
    torch.testing.assert_close(Max()(h, ONE_BAG).weights.ravel(), expected)


def test_max_of_scores_gives_all_weight_to_the_largest_score():
    weights = Max()(torch.tensor([[-3.0], [2.0], [1.0], [-1e30]]), ONE_BAG).weights
    assert weights.ravel().tolist() == [0.0, 1.0, 0.0, 0.0]


def test_max_of_one_instance_equals_its_score():
    scores = torch.tensor([[-200.0], [0.3], [200.0]])
    assert torch.equal(Max()(scores, torch.arange(4)).values, scores)


@pytest.mark.parametrize("r", [0.1, 1.0, 5.0])
def test_log_sum_exp_matches_its_equation(r):
    h = torch.randn(4, 3, dtype=torch.float64)
    expected = [[math.log(sum(math.exp(r * float(h[k, m])) for k in range(4)) / 4) / r for m in range(3)]]
    pooled = LogSumExp(r)(h, ONE_BAG).values
    torch.testing.assert_close(pooled, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("r", [0.1, 1.0, 5.0])
def test_log_sum_exp_weight_is_the_softmax_averaged_over_columns(r):
    h = torch.randn(4, 3, dtype=torch.float64)
    powers = [[math.exp(r * float(h[k, m])) for m in range(3)] for k in range(4)]
    expected = [sum(powers[k][m] / sum(powers[j][m] for j in range(4)) for m in range(3)) / 3 for k in range(4)]
    weights = LogSumExp(r)(h, ONE_BAG).weights.ravel()
    torch.testing.assert_close(weights, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=1e-12)


def test_log_sum_exp_weight_of_one_column_equals_the_gradient():
    h = torch.randn(4, 1, dtype=torch.float64, requires_grad=True)
    pooled, weights = LogSumExp(2.5)(h, ONE_BAG)
    (gradient,) = torch.autograd.grad(pooled.sum(), h)
    torch.testing.assert_close(weights, gradient, rtol=1e-12, atol=1e-12)


def test_log_sum_exp_interpolates_between_mean_and_max():
    h = torch.randn(4, 3, dtype=torch.float64)
    torch.testing.assert_close(LogSumExp(1e-7)(h, ONE_BAG).values[0], h.mean(0), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(LogSumExp(1e7)(h, ONE_BAG).values[0], h.amax(0), rtol=1e-6, atol=1e-6)
    pooled = torch.cat([LogSumExp(r)(h, ONE_BAG).values for r in (0.1, 0.5, 1.0, 2.0, 10.0)])
    assert (pooled.diff(dim=0) > 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("neighbours", [0, 2])
def test_log_sum_exp_of_extreme_scores_is_the_max_minus_the_log_of_the_size(dtype, neighbours):
    for scores in ([200.0, -200.0, 50.0], [-200.0, -1e4, -900.0], [1e30, 0.0]):
        h = torch.tensor([*scores] + [0.0] * neighbours, dtype=dtype)[:, None].requires_grad_()
        pooled, weights = LogSumExp()(h, offsets_with_neighbours(len(scores), neighbours))
        torch.testing.assert_close(pooled[0, 0], torch.tensor(max(scores) - math.log(len(scores)), dtype=dtype))
        (gradient,) = torch.autograd.grad(pooled[0, 0] + weights[0, 0], h)
        assert gradient.isfinite().all()


@pytest.mark.parametrize("r", [0.1, 1.0, 5.0])
def test_log_sum_exp_of_one_instance_equals_its_score(r):
    scores = torch.tensor([[-200.0], [0.3], [200.0]])
    torch.testing.assert_close(LogSumExp(r)(scores, torch.arange(4)).values, scores)


@pytest.mark.parametrize("r", [0.0, -1.0, float("nan"), float("inf"), "x", None])
def test_log_sum_exp_rejects_a_sharpness_that_is_not_positive(r):
    with unchecked(), pytest.raises(InputError, match=r"sharpness .*number above 0"):
        LogSumExp(r)
