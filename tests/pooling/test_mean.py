"""Mean pooling, eq. 6: of embeddings, z = 1/K Σₖ hₖ; of scores, θ = 1/K Σₖ pₖ."""

import math
from decimal import Decimal, localcontext

import pytest
import torch

from bagwise.likelihoods import Bernoulli, Categorical
from bagwise.pooling import Mean, MeanProbability, Settings
from layouts import EXTREMES, MODERATE, offsets_with_neighbours, score_gradient_and_weights


def pool(scores, dtype=torch.float64):
    """Score and gradient of one bag under two classes."""
    return score_gradient_and_weights(MeanProbability(Bernoulli()), scores, dtype)[:2]


def precise(scores):
    """The logit of the mean probability and its derivative with 400 digits."""
    with localcontext(prec=400):
        p = [1 / (1 + (-Decimal(score)).exp()) for score in scores]
        theta = sum(p) / len(p)
        slope = 1 / (len(p) * theta * (1 - theta))
        return float((theta / (1 - theta)).ln()), [float(share * (1 - share) * slope) for share in p]


def test_embeddings_are_averaged_by_coordinate():
    h = torch.randn(4, 3, dtype=torch.float64)
    expected = [[math.fsum(float(h[k, m]) for k in range(4)) / 4 for m in range(3)]]
    pooled = Mean()(h, torch.tensor([0, 4])).values
    torch.testing.assert_close(pooled, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=1e-14)


def test_on_scores_it_averages_probabilities():
    assert isinstance(Mean.for_scores(3, Bernoulli(), Settings()), MeanProbability)


def test_moderate_scores_of_two_classes_give_the_plain_formula():
    theta = sum(1 / (1 + math.exp(-score)) for score in MODERATE) / 6
    score, _ = pool(MODERATE)
    assert torch.sigmoid(score).item() == pytest.approx(theta, abs=1e-9)
    assert score.item() == pytest.approx(math.log(theta / (1 - theta)), abs=1e-9)


@pytest.mark.parametrize("neighbours", [0, 3])
def test_moderate_scores_of_many_classes_give_the_plain_formula(neighbours):
    scores = torch.randn(4 + neighbours, 3, dtype=torch.float64) * 2
    pooled = MeanProbability(Categorical(3))(scores, offsets_with_neighbours(4, neighbours)).values
    powers = [[math.exp(float(scores[k, c])) for c in range(3)] for k in range(4)]
    theta = [sum(row[c] / sum(row) for row in powers) / 4 for c in range(3)]
    assert Categorical(3).probabilities(pooled)[0].tolist() == pytest.approx(theta, abs=1e-12)


@pytest.mark.parametrize("scores", [*EXTREMES, [50.0, 50.0]], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_scores_give_the_formula_of_many_digits(scores, dtype):
    for actual, expected in zip(pool(scores, dtype), precise(scores), strict=True):
        torch.testing.assert_close(actual, torch.tensor(expected, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_scores_of_many_classes_stay_finite_and_reach_their_limit(dtype):
    scores = torch.tensor([[200.0, -200.0, 0.0], [-200.0, 200.0, 0.0]], dtype=dtype, requires_grad=True)
    pooled = MeanProbability(Categorical(3))(scores, torch.tensor([0, 2])).values
    pooled.sum().backward()
    expected = torch.tensor([[math.log(0.5), math.log(0.5), -200.0]], dtype=dtype)
    torch.testing.assert_close(pooled, expected)
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("own", [-200.0, -50.0, 0.3, 50.0, 200.0])
def test_one_instance_gives_back_its_own_score(own):
    for dtype in (torch.float32, torch.float64):
        score, gradient = pool([own], dtype)
        torch.testing.assert_close(score, torch.tensor(own, dtype=dtype))
        torch.testing.assert_close(gradient, torch.ones(1, dtype=dtype))


def test_one_instance_gives_back_its_own_probabilities_of_many_classes():
    scores = torch.randn(4, 3, dtype=torch.float64)
    pooled = MeanProbability(Categorical(3))(scores, torch.arange(5)).values
    torch.testing.assert_close(pooled.softmax(1), scores.softmax(1), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("pooling", [Mean(), MeanProbability(Bernoulli())])
def test_every_instance_weighs_one_over_the_size_of_its_bag(pooling):
    weights = pooling(torch.randn(5, 1), torch.tensor([0, 1, 5])).weights
    assert weights.ravel().tolist() == [1.0, 0.25, 0.25, 0.25, 0.25]
