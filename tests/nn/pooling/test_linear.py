"""Tests of mean pooling (eq. 6), z = 1/K Σₖ hₖ and θ = 1/K Σₖ pₖ, and sum pooling (Theorem 1), z = Σₖ hₖ."""

import math
from decimal import Decimal, localcontext

import pytest
import torch

from bagwise.nn.pooling.base import PoolingSettings
from bagwise.nn.pooling.linear import Mean, MeanProbability, Sum
from bagwise.targets.class_likelihoods import Bernoulli, Categorical
from layouts import EXTREMES, MODERATE, offsets_with_neighbours, score_gradient_and_weights

dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


@pytest.mark.parametrize(("pooling", "divisor"), [(Mean(), 4), (Sum(), 1)])
def test_mean_and_sum_are_computed_per_column(pooling, divisor):
    h = torch.randn(4, 3, dtype=torch.float64)
    expected = [[math.fsum(float(h[k, m]) for k in range(4)) / divisor for m in range(3)]]
    pooled = pooling(h, torch.tensor([0, 4])).values
    torch.testing.assert_close(pooled, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("pooling", "expected"), [(Mean(), [2.0, 20.0]), (Sum(), [6.0, 60.0])])
def test_mean_and_sum_of_pieces_equal_those_of_the_bag(pooling, expected):
    values = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    parts = [pooling.accumulate(pooling.terms(part), torch.tensor([0, len(part)])) for part in values.split(2)]
    totals = pooling.merge(*parts)
    assert pooling.finalize(totals).ravel().tolist() == expected
    weights = pooling.weigh(torch.zeros(3, 1), totals, torch.tensor([0, 3]))
    assert weights.ravel().tolist() == [1 / 3] * 3


@pytest.mark.parametrize(("pooling", "width"), [(Mean(), 1), (MeanProbability(Bernoulli()), 1), (Sum(), 2)])
def test_mean_and_sum_weights_are_one_over_the_size_of_the_bag(pooling, width):
    weights = pooling(torch.randn(5, width), torch.tensor([0, 1, 5])).weights
    assert weights.ravel().tolist() == [1.0, 0.25, 0.25, 0.25, 0.25]


def test_sum_of_one_instance_equals_its_score():
    scores = torch.tensor([[-200.0], [0.3], [200.0]])
    assert torch.equal(Sum()(scores, torch.arange(4)).values, scores)


def test_mean_for_scores_is_mean_probability():
    assert isinstance(Mean.for_scores(3, Bernoulli(), PoolingSettings()), MeanProbability)


def pool_two_classes(scores, dtype=torch.float64):
    """Return the score and the gradient of one bag."""
    return score_gradient_and_weights(MeanProbability(Bernoulli()), scores, dtype)[:2]


def compute_with_400_digits(scores):
    """Return the logit of the mean probability and its derivatives."""
    with localcontext(prec=400):
        p = [1 / (1 + (-Decimal(score)).exp()) for score in scores]
        theta = sum(p) / len(p)
        derivative = 1 / (len(p) * theta * (1 - theta))
        return float((theta / (1 - theta)).ln()), [float(p_k * (1 - p_k) * derivative) for p_k in p]


def test_mean_probability_of_two_classes_matches_its_equation():
    theta = sum(1 / (1 + math.exp(-score)) for score in MODERATE) / 6
    score, _ = pool_two_classes(MODERATE)
    assert torch.sigmoid(score).item() == pytest.approx(theta, abs=1e-9)
    assert score.item() == pytest.approx(math.log(theta / (1 - theta)), abs=1e-9)


@pytest.mark.parametrize("neighbours", [0, 3])
def test_mean_probability_of_many_classes_matches_its_equation(neighbours):
    scores = torch.randn(4 + neighbours, 3, dtype=torch.float64) * 2
    pooled = MeanProbability(Categorical(3))(scores, offsets_with_neighbours(4, neighbours)).values
    powers = [[math.exp(float(scores[k, c])) for c in range(3)] for k in range(4)]
    theta = [sum(row[c] / sum(row) for row in powers) / 4 for c in range(3)]
    assert Categorical(3).outputs(pooled)[0].tolist() == pytest.approx(theta, abs=1e-12)


@pytest.mark.parametrize("scores", [*EXTREMES, [50.0, 50.0]], ids=str)
@dtypes
def test_mean_probability_of_extreme_scores_is_exact(scores, dtype):
    for actual, expected in zip(pool_two_classes(scores, dtype), compute_with_400_digits(scores), strict=True):
        torch.testing.assert_close(actual, torch.tensor(expected, dtype=dtype))


@dtypes
def test_mean_probability_of_extreme_scores_of_many_classes_reaches_its_limit(dtype):
    scores = torch.tensor([[200.0, -200.0, 0.0], [-200.0, 200.0, 0.0]], dtype=dtype, requires_grad=True)
    pooled = MeanProbability(Categorical(3))(scores, torch.tensor([0, 2])).values
    pooled.sum().backward()
    expected = torch.tensor([[math.log(0.5), math.log(0.5), -200.0]], dtype=dtype)
    torch.testing.assert_close(pooled, expected)
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("own", [-200.0, -50.0, 0.3, 50.0, 200.0])
@dtypes
def test_mean_probability_of_one_instance_equals_its_score(own, dtype):
    score, gradient = pool_two_classes([own], dtype)
    torch.testing.assert_close(score, torch.tensor(own, dtype=dtype))
    torch.testing.assert_close(gradient, torch.ones(1, dtype=dtype))


def test_mean_probability_of_one_instance_of_many_classes_equals_its_probabilities():
    scores = torch.randn(4, 3, dtype=torch.float64)
    pooled = MeanProbability(Categorical(3))(scores, torch.arange(5)).values
    torch.testing.assert_close(pooled.softmax(1), scores.softmax(1), rtol=1e-12, atol=1e-14)
