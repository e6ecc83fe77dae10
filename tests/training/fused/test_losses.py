import numpy as np
import pytest
import torch

pytest.importorskip("numba")
from numba import njit

from bagwise.likelihoods import Bernoulli, Categorical, Supervised
from bagwise.training.fused.losses import judge

LIKELIHOODS = [Bernoulli(), Categorical(2), Categorical(4), Supervised(Bernoulli(), 3), Supervised(Categorical(3), 2)]


@njit
def judged(scores, target, n_sets, n_scores, slopes):
    return judge(scores, target, n_sets, n_scores, slopes)


@pytest.mark.parametrize("scale", [0.1, 3.0, 300.0])
@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda each: f"{each.name} {each.n_scores}")
def test_loss_slopes_and_errors_are_the_likelihoods(likelihood, scale):
    each, n_sets = (likelihood.each, likelihood.n_sets) if likelihood.name == "supervised" else (likelihood, 1)
    n_classes = 2 if each.name == "bernoulli" else each.n_scores
    generator = np.random.default_rng(0)
    for _ in range(20):
        scores = torch.tensor(generator.normal(0, scale, (1, likelihood.n_scores)), requires_grad=True)
        target = torch.tensor([generator.integers(n_classes)])
        expected = likelihood.loss(scores, target)
        expected.sum().backward()
        slopes = np.zeros(likelihood.n_scores)
        loss, error = judged(scores.detach().numpy()[0], target.item(), n_sets, each.n_scores, slopes)
        assert loss == pytest.approx(expected.item(), rel=1e-12, abs=1e-14)
        np.testing.assert_allclose(slopes, scores.grad.numpy()[0], rtol=1e-11, atol=1e-14)
        assert error == likelihood.errors(scores.detach(), target).item()


def test_nan_is_seen():
    assert np.isnan(judged(np.array([np.nan]), 1, 1, 1, np.zeros(1))[0])
