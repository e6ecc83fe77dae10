"""Noisy-or: θ = 1 − Πₖ (1 − pₖ)."""

import math
from decimal import Decimal, localcontext

import pytest
import torch

from bagwise.pooling import NoisyOr
from layouts import EXTREMES, MODERATE, score_gradient_and_weights


def precise(scores):
    """Score, gradient pₖ/θ and weights −log(1 − pₖ), normalised, with 400 digits."""
    with localcontext(prec=400):
        p = [1 / (1 + (-Decimal(score)).exp()) for score in scores]
        theta = 1 - math.prod(1 - share for share in p)
        parts = [-(1 - share).ln() for share in p]
        score = float((theta / (1 - theta)).ln())
        return score, [float(share / theta) for share in p], [float(part / sum(parts)) for part in parts]


def test_moderate_scores_give_the_plain_formula():
    p = [1 / (1 + math.exp(-score)) for score in MODERATE]
    theta = 1 - math.prod(1 - share for share in p)
    parts = [-math.log(1 - share) for share in p]
    score, _, weights = score_gradient_and_weights(NoisyOr(), MODERATE)
    assert torch.sigmoid(score).item() == pytest.approx(theta, abs=1e-9)
    assert score.item() == pytest.approx(math.log(theta / (1 - theta)), abs=1e-9)
    assert weights.tolist() == pytest.approx([part / sum(parts) for part in parts], abs=1e-9)


@pytest.mark.parametrize("scores", [*EXTREMES, [-18.5, -17.5, -18.0], [50.0, 50.0]], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_scores_give_the_formula_of_many_digits(scores, dtype):
    score, gradient, weights = score_gradient_and_weights(NoisyOr(), scores, dtype)
    for actual, expected in zip((score, gradient, weights), precise(scores), strict=True):
        torch.testing.assert_close(actual, torch.tensor(expected, dtype=dtype))


@pytest.mark.parametrize("own", [-200.0, -50.0, -18.0, 0.3, 50.0, 200.0])
def test_one_instance_gives_back_its_own_score(own):
    for dtype in (torch.float32, torch.float64):
        score, gradient, weights = score_gradient_and_weights(NoisyOr(), [own], dtype)
        torch.testing.assert_close(score, torch.tensor(own, dtype=dtype))
        torch.testing.assert_close(gradient, torch.ones(1, dtype=dtype))
        assert weights.tolist() == [1.0]


@pytest.mark.parametrize("size", [1e30, 1e6])
def test_scores_without_bound_stay_finite_in_float32(size):
    for scores in ([-size, -size], [size, size], [-size, size, 0.0]):
        score, gradient, weights = score_gradient_and_weights(NoisyOr(), scores, torch.float32)
        assert score.isfinite()
        assert gradient.isfinite().all()
        assert weights.sum() == pytest.approx(1)
