"""ISR: θ = Σₖ pₖ/(1 − pₖ) / (1 + Σₖ pₖ/(1 − pₖ))."""

import math
from decimal import Decimal, localcontext

import pytest
import torch

from bagwise.pooling import ISR
from layouts import EXTREMES, MODERATE, score_gradient_and_weights


def precise(scores):
    """The equation and its derivative with 400 digits."""
    with localcontext(prec=400):
        p = [1 / (1 + (-Decimal(score)).exp()) for score in scores]
        odds = [share / (1 - share) for share in p]
        theta = sum(odds) / (1 + sum(odds))
        return float((theta / (1 - theta)).ln()), [float(each / sum(odds)) for each in odds]


def test_moderate_scores_give_the_plain_formula():
    p = [1 / (1 + math.exp(-score)) for score in MODERATE]
    odds = [share / (1 - share) for share in p]
    theta = sum(odds) / (1 + sum(odds))
    score, _, weights = score_gradient_and_weights(ISR(), MODERATE)
    assert torch.sigmoid(score).item() == pytest.approx(theta, abs=1e-9)
    assert score.item() == pytest.approx(math.log(theta / (1 - theta)), abs=1e-9)
    assert weights.tolist() == pytest.approx([each / sum(odds) for each in odds], abs=1e-9)


@pytest.mark.parametrize("scores", [*EXTREMES, [50.0, 50.0]], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_scores_give_the_formula_of_many_digits(scores, dtype):
    score, gradient, weights = score_gradient_and_weights(ISR(), scores, dtype)
    expected, shares = precise(scores)
    torch.testing.assert_close(score, torch.tensor(expected, dtype=dtype))
    torch.testing.assert_close(gradient, torch.tensor(shares, dtype=dtype))  # the derivative is the share of the odds
    torch.testing.assert_close(weights, torch.tensor(shares, dtype=dtype))


@pytest.mark.parametrize("own", [-200.0, -50.0, 0.3, 50.0, 200.0])
def test_one_instance_gives_back_its_own_score(own):
    for dtype in (torch.float32, torch.float64):
        score, gradient, weights = score_gradient_and_weights(ISR(), [own], dtype)
        torch.testing.assert_close(score, torch.tensor(own, dtype=dtype))
        assert gradient.tolist() == weights.tolist() == [1.0]
