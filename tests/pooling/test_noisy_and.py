"""Noisy-and: θ = ( σ(a(p̄ − b)) − σ(−ab) ) / ( σ(a(1 − b)) − σ(−ab) ), p̄ = 1/K Σₖ pₖ."""

import math
from decimal import Decimal, localcontext

import pytest
import torch

from bagwise.errors import InputError
from bagwise.pooling import NoisyAnd
from layouts import EXTREMES, MODERATE
from unchecked import unchecked

shapes = pytest.mark.parametrize(("slope", "threshold"), [(10.0, 0.5), (7.5, 0.2), (1.0, 0.9), (40.0, 0.5)])


def pooling_of(slope, threshold, dtype=torch.float64):
    pooling = NoisyAnd(slope).to(dtype)
    torch.nn.init.constant_(pooling.threshold, threshold)
    return pooling


def pool(pooling, scores):
    """Score, and the gradients of the scores and of the threshold, of one bag."""
    values = torch.tensor(scores, dtype=pooling.threshold.dtype)[:, None].requires_grad_()
    pooled = pooling(values, torch.tensor([0, len(scores)])).values
    gradient, threshold = torch.autograd.grad(pooled.sum(), (values, pooling.threshold))
    return pooled[0, 0].detach(), gradient.ravel(), threshold[0]


def sigm(x):
    return 1 / (1 + (-x).exp())


def precise(scores, slope, threshold):
    """The equation and its derivatives with 400 digits."""
    with localcontext(prec=400):
        a, b = Decimal(slope), Decimal(threshold)
        p = [sigm(Decimal(score)) for score in scores]
        share = sum(p) / len(p)

        def theta(b):
            return (sigm(a * (share - b)) - sigm(-a * b)) / (sigm(a * (1 - b)) - sigm(-a * b))

        def logit(probability):
            return (probability / (1 - probability)).ln()

        here, step = theta(b), Decimal(10) ** -100
        slope_of_share = a * sigm(a * (share - b)) * sigm(-a * (share - b)) / (sigm(a * (1 - b)) - sigm(-a * b))
        each = [slope_of_share / (here * (1 - here)) * share_k * (1 - share_k) / len(p) for share_k in p]
        by_threshold = (logit(theta(b + step)) - logit(theta(b - step))) / (2 * step)
        return float(logit(here)), [float(gradient) for gradient in each], float(by_threshold)


@shapes
def test_moderate_scores_give_the_plain_formula(slope, threshold):
    share = sum(1 / (1 + math.exp(-score)) for score in MODERATE) / 6
    plain = lambda x: 1 / (1 + math.exp(-x))  # noqa: E731
    floor = plain(-slope * threshold)
    theta = (plain(slope * (share - threshold)) - floor) / (plain(slope * (1 - threshold)) - floor)
    score, _, _ = pool(pooling_of(slope, threshold), MODERATE)
    assert torch.sigmoid(score).item() == pytest.approx(theta, abs=1e-9)
    assert score.item() == pytest.approx(math.log(theta / (1 - theta)), abs=1e-9)


@shapes
@pytest.mark.parametrize("scores", [*EXTREMES, [-200.0], [-18.5], [-50.0], [50.0], [200.0]], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_scores_give_the_formula_of_many_digits(slope, threshold, scores, dtype):
    pooling = pooling_of(slope, threshold, dtype)
    exact = precise(scores, slope, float(pooling.threshold.detach()[0]))
    for actual, expected in zip(pool(pooling, scores), exact, strict=True):
        torch.testing.assert_close(actual, torch.tensor(expected, dtype=dtype))


def test_the_bag_turns_positive_when_enough_instances_are():
    few, half, most = ([20.0] * count + [-20.0] * (10 - count) for count in (2, 5, 8))
    scores = [pool(pooling_of(10.0, 0.5), bag)[0].item() for bag in (few, half, most)]
    assert scores[0] < -2
    assert scores[1] == pytest.approx(0, abs=1e-6)
    assert scores[2] > 2


@pytest.mark.parametrize("threshold", [-30.0, -2.0, -0.1, 1.1, 3.0, 30.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_threshold_that_left_the_shares_keeps_scores_finite_exact_and_rising(threshold, dtype):
    pooling = pooling_of(10.0, threshold, dtype)
    bags = [[20.0] * count + [-20.0] * (10 - count) for count in range(11)]
    scores, gradients, by_threshold = zip(*(pool(pooling, bag) for bag in bags), strict=True)
    assert torch.stack([*scores, *by_threshold]).isfinite().all()
    assert torch.stack(gradients).isfinite().all()
    assert (torch.stack(scores).diff() > 0).all()
    exact = [precise(bag, 10.0, float(pooling.threshold.detach()[0]))[0] for bag in bags]
    tolerance = 1e-4 if dtype == torch.float32 else 1e-9  # a · b = 300 loses digits that θ does not need
    torch.testing.assert_close(torch.stack(scores), torch.tensor(exact, dtype=dtype), rtol=0, atol=tolerance)


def test_every_instance_weighs_one_over_the_size_of_its_bag():
    weights = NoisyAnd()(torch.randn(5, 1), torch.tensor([0, 1, 5])).weights
    assert weights.ravel().tolist() == [1.0, 0.25, 0.25, 0.25, 0.25]


@pytest.mark.parametrize("slope", [0.0, -1.0, float("nan"), float("inf"), "x", None])
def test_a_slope_that_is_not_positive_is_refused(slope):
    with unchecked(), pytest.raises(InputError, match=r"slope is .*; it must be a number above 0"):
        NoisyAnd(slope)
