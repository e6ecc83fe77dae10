"""Comparison of ISR, noisy-or and noisy-and with their equations, also where these underflow in floating point.

ISR         θ = Σₖ pₖ/(1 − pₖ) / (1 + Σₖ pₖ/(1 − pₖ))
Noisy-or    θ = 1 − Πₖ (1 − pₖ)
Noisy-and   θ = ( σ(a(p̄ − b)) − σ(−ab) ) / ( σ(a(1 − b)) − σ(−ab) ),  p̄ = 1/K Σₖ pₖ
"""

import math
from decimal import Decimal, localcontext

import pytest
import torch

from bagwise.errors import InputError
from bagwise.nn.pooling.probability import ISR, SMALL, NoisyAnd, NoisyOr, log_one_minus_exp, log_softplus
from layouts import EXTREMES, MODERATE, score_gradient_and_weights
from unchecked import unchecked

dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def sigm(x):
    return 1 / (1 + (-x).exp())


def isr_with_400_digits(scores):
    """Return score, gradient and weights; gradient and weights both equal the share of the odds."""
    with localcontext(prec=400):
        p = [sigm(Decimal(score)) for score in scores]
        odds = [p_k / (1 - p_k) for p_k in p]
        theta = sum(odds) / (1 + sum(odds))
        shares = [float(odds_k / sum(odds)) for odds_k in odds]
        return float((theta / (1 - theta)).ln()), shares, shares


def noisy_or_with_400_digits(scores):
    """Return the score, the gradient pₖ/θ and the weights −log(1 − pₖ), normalised."""
    with localcontext(prec=400):
        p = [sigm(Decimal(score)) for score in scores]
        theta = 1 - math.prod(1 - p_k for p_k in p)
        parts = [-(1 - p_k).ln() for p_k in p]
        score = float((theta / (1 - theta)).ln())
        return score, [float(p_k / theta) for p_k in p], [float(part / sum(parts)) for part in parts]


REFERENCES = {ISR: isr_with_400_digits, NoisyOr: noisy_or_with_400_digits}
isr_and_noisy_or = pytest.mark.parametrize("pooling", REFERENCES)


def test_isr_matches_its_equation():
    p = [1 / (1 + math.exp(-score)) for score in MODERATE]
    odds = [p_k / (1 - p_k) for p_k in p]
    theta = sum(odds) / (1 + sum(odds))
    score, _, weights = score_gradient_and_weights(ISR(), MODERATE)
    assert torch.sigmoid(score).item() == pytest.approx(theta, abs=1e-9)
    assert score.item() == pytest.approx(math.log(theta / (1 - theta)), abs=1e-9)
    assert weights.tolist() == pytest.approx([odds_k / sum(odds) for odds_k in odds], abs=1e-9)


def test_noisy_or_matches_its_equation():
    p = [1 / (1 + math.exp(-score)) for score in MODERATE]
    theta = 1 - math.prod(1 - p_k for p_k in p)
    parts = [-math.log(1 - p_k) for p_k in p]
    score, _, weights = score_gradient_and_weights(NoisyOr(), MODERATE)
    assert torch.sigmoid(score).item() == pytest.approx(theta, abs=1e-9)
    assert score.item() == pytest.approx(math.log(theta / (1 - theta)), abs=1e-9)
    assert weights.tolist() == pytest.approx([part / sum(parts) for part in parts], abs=1e-9)


@isr_and_noisy_or
@pytest.mark.parametrize("scores", [*EXTREMES, [-18.5, -17.5, -18.0], [50.0, 50.0]], ids=str)
@dtypes
def test_isr_and_noisy_or_of_extreme_scores_are_exact(pooling, scores, dtype):
    found = score_gradient_and_weights(pooling(), scores, dtype)
    for actual, expected in zip(found, REFERENCES[pooling](scores), strict=True):
        torch.testing.assert_close(actual, torch.tensor(expected, dtype=dtype))


@isr_and_noisy_or
@pytest.mark.parametrize("own", [-200.0, -50.0, -18.0, 0.3, 50.0, 200.0])
@dtypes
def test_isr_and_noisy_or_of_one_instance_equal_its_score(pooling, own, dtype):
    score, gradient, weights = score_gradient_and_weights(pooling(), [own], dtype)
    torch.testing.assert_close(score, torch.tensor(own, dtype=dtype))
    torch.testing.assert_close(gradient, torch.ones(1, dtype=dtype))
    assert weights.tolist() == [1.0]


@pytest.mark.parametrize("size", [1e30, 1e6])
def test_noisy_or_of_very_large_scores_is_finite_in_float32(size):
    for scores in ([-size, -size], [size, size], [-size, size, 0.0]):
        score, gradient, weights = score_gradient_and_weights(NoisyOr(), scores, torch.float32)
        assert score.isfinite()
        assert gradient.isfinite().all()
        assert weights.sum() == pytest.approx(1)


SLOPES_AND_THRESHOLDS = [(10.0, 0.5), (7.5, 0.2), (1.0, 0.9), (40.0, 0.5)]
shapes = pytest.mark.parametrize(("slope", "threshold"), SLOPES_AND_THRESHOLDS)


def make_noisy_and(slope, threshold, dtype=torch.float64):
    pooling = NoisyAnd(slope).to(dtype)
    torch.nn.init.constant_(pooling.threshold, threshold)
    return pooling


def pool_with_noisy_and(pooling, scores):
    """Return the score of one bag, and its gradients with respect to the scores and the threshold."""
    values = torch.tensor(scores, dtype=pooling.threshold.dtype)[:, None].requires_grad_()
    pooled = pooling(values, torch.tensor([0, len(scores)])).values
    gradient, threshold = torch.autograd.grad(pooled.sum(), (values, pooling.threshold))
    return pooled[0, 0].detach(), gradient.ravel(), threshold[0]


def noisy_and_with_400_digits(scores, slope, threshold):
    """Return the result of the equation and its derivatives with respect to the scores and the threshold."""
    with localcontext(prec=400):
        a, b = Decimal(slope), Decimal(threshold)
        p = [sigm(Decimal(score)) for score in scores]
        mean = sum(p) / len(p)

        def theta(b):
            return (sigm(a * (mean - b)) - sigm(-a * b)) / (sigm(a * (1 - b)) - sigm(-a * b))

        def logit(probability):
            return (probability / (1 - probability)).ln()

        here, step = theta(b), Decimal(10) ** -100
        by_mean = a * sigm(a * (mean - b)) * sigm(-a * (mean - b)) / (sigm(a * (1 - b)) - sigm(-a * b))
        by_scores = [by_mean / (here * (1 - here)) * p_k * (1 - p_k) / len(p) for p_k in p]
        by_threshold = (logit(theta(b + step)) - logit(theta(b - step))) / (2 * step)
        return float(logit(here)), [float(gradient) for gradient in by_scores], float(by_threshold)


@shapes
def test_noisy_and_matches_its_equation(slope, threshold):
    mean = sum(1 / (1 + math.exp(-score)) for score in MODERATE) / 6
    plain = lambda x: 1 / (1 + math.exp(-x))  # noqa: E731
    floor = plain(-slope * threshold)
    theta = (plain(slope * (mean - threshold)) - floor) / (plain(slope * (1 - threshold)) - floor)
    score, _, _ = pool_with_noisy_and(make_noisy_and(slope, threshold), MODERATE)
    assert torch.sigmoid(score).item() == pytest.approx(theta, abs=1e-9)
    assert score.item() == pytest.approx(math.log(theta / (1 - theta)), abs=1e-9)


@shapes
@pytest.mark.parametrize("scores", [*EXTREMES, [-200.0], [-18.5], [-50.0], [50.0], [200.0]], ids=str)
@dtypes
def test_noisy_and_of_extreme_scores_is_exact(slope, threshold, scores, dtype):
    pooling = make_noisy_and(slope, threshold, dtype)
    exact = noisy_and_with_400_digits(scores, slope, float(pooling.threshold.detach()[0]))
    for actual, expected in zip(pool_with_noisy_and(pooling, scores), exact, strict=True):
        torch.testing.assert_close(actual, torch.tensor(expected, dtype=dtype))


def bag_with_positives(count):
    return [20.0] * count + [-20.0] * (10 - count)


def test_noisy_and_is_positive_if_enough_instances_are():
    pooling = make_noisy_and(10.0, 0.5)
    two, five, eight = (pool_with_noisy_and(pooling, bag_with_positives(count))[0].item() for count in (2, 5, 8))
    assert two < -2
    assert five == pytest.approx(0, abs=1e-6)
    assert eight > 2


@pytest.mark.parametrize("threshold", [-30.0, -2.0, -0.1, 1.1, 3.0, 30.0])
@dtypes
def test_noisy_and_with_a_threshold_outside_zero_to_one_is_finite_exact_and_increasing(threshold, dtype):
    pooling = make_noisy_and(10.0, threshold, dtype)
    bags = [bag_with_positives(count) for count in range(11)]
    scores, gradients, by_threshold = zip(*(pool_with_noisy_and(pooling, bag) for bag in bags), strict=True)
    assert torch.stack([*scores, *by_threshold]).isfinite().all()
    assert torch.stack(gradients).isfinite().all()
    assert (torch.stack(scores).diff() > 0).all()
    exact = [noisy_and_with_400_digits(bag, 10.0, float(pooling.threshold.detach()[0]))[0] for bag in bags]
    tolerance = 1e-4 if dtype == torch.float32 else 1e-9  # cancellation, because a · b = 300
    torch.testing.assert_close(torch.stack(scores), torch.tensor(exact, dtype=dtype), rtol=0, atol=tolerance)


def test_noisy_and_weights_are_one_over_the_size_of_the_bag():
    weights = NoisyAnd()(torch.randn(5, 1), torch.tensor([0, 1, 5])).weights
    assert weights.ravel().tolist() == [1.0, 0.25, 0.25, 0.25, 0.25]


@pytest.mark.parametrize("slope", [0.0, -1.0, float("nan"), float("inf"), "x", None])
def test_noisy_and_rejects_a_slope_that_is_not_positive(slope):
    with unchecked(), pytest.raises(InputError, match=r"slope .*number above 0"):
        NoisyAnd(slope)


POINTS = [-700.0, -200.0, -50.0, -18.5, SMALL, -17.5, -5.0, -1.0, -0.1, 0.0, 0.1, 1.0, 3.0]


def values_and_gradients(function, points, dtype):
    values = torch.tensor(points, dtype=dtype, requires_grad=True)
    result = function(values)
    result.sum().backward()
    return result.detach(), values.grad


@dtypes
def test_log_softplus_matches_its_formula(dtype):
    points = [*POINTS, 10.0, 19.9, 20.1, 200.0]
    result, gradient = values_and_gradients(log_softplus, points, dtype)
    softplus = [math.log1p(math.exp(point)) for point in points]
    torch.testing.assert_close(result, torch.tensor([math.log(value) for value in softplus], dtype=dtype))
    expected = [1 / (1 + math.exp(-point)) / value for point, value in zip(points, softplus, strict=True)]
    torch.testing.assert_close(gradient, torch.tensor(expected, dtype=dtype))


@dtypes
def test_log_one_minus_exp_matches_its_formula(dtype):
    result, gradient = values_and_gradients(log_one_minus_exp, POINTS, dtype)
    ys = [math.exp(point) for point in POINTS]
    torch.testing.assert_close(result, torch.tensor([math.log(-math.expm1(-y)) for y in ys], dtype=dtype))
    torch.testing.assert_close(gradient, torch.tensor([y / math.expm1(y) for y in ys], dtype=dtype))


def test_log_softplus_and_log_one_minus_exp_are_exact_on_both_sides_of_the_branch_point():
    points = [SMALL - 2.0, SMALL - 1e-9, SMALL, SMALL + 1e-9, SMALL + 2.0]
    values = torch.tensor(points, dtype=torch.float64)
    softplus = torch.tensor([math.log(math.log1p(math.exp(point))) for point in points], dtype=torch.float64)
    torch.testing.assert_close(log_softplus(values), softplus, rtol=1e-15, atol=0)
    expected = torch.tensor([math.log(-math.expm1(-math.exp(point))) for point in points], dtype=torch.float64)
    torch.testing.assert_close(log_one_minus_exp(values), expected, rtol=1e-15, atol=0)


@dtypes
@pytest.mark.parametrize("function", [log_softplus, log_one_minus_exp])
def test_log_softplus_and_log_one_minus_exp_of_very_negative_values_equal_the_argument(function, dtype):
    points = [-1e30, -1e4, -1000.0]
    result, gradient = values_and_gradients(function, points, dtype)
    assert result.tolist() == torch.tensor(points, dtype=dtype).tolist()
    assert gradient.tolist() == [1.0] * 3


@dtypes
def test_log_one_minus_exp_of_large_values_is_zero_with_zero_gradient(dtype):
    result, gradient = values_and_gradients(log_one_minus_exp, [5.0, 40.0, 80.0], dtype)
    assert result.abs().max() < 1e-30 or result.tolist() == [0.0] * 3
    torch.testing.assert_close(gradient, torch.zeros(3, dtype=dtype))
