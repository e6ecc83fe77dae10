"""The base class of likelihoods, and deep supervision."""

import numpy as np
import pytest
import torch

from bagwise.targets.class_likelihoods import Bernoulli, Categorical
from bagwise.targets.likelihoods import Likelihood, Supervised


class Poisson(Likelihood):
    """Counts with one score, the logarithm of the rate."""

    name, n_scores = "poisson", 1

    def outputs(self, scores):
        return scores.exp()

    def link(self, outputs):
        return np.log(outputs)

    def loss(self, scores, targets):
        return scores[:, 0].exp() - targets * scores[:, 0] + torch.lgamma(targets + 1)

    def errors(self, scores, targets):
        return (scores[:, 0].exp() - targets).abs()


def sample_scores(likelihood, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(9, likelihood.n_scores, generator=generator, dtype=torch.float64)


def sample_targets(likelihood):
    generator = torch.Generator().manual_seed(3)
    return torch.randint(2, (9,), generator=generator, dtype=torch.int64).to(
        torch.float64 if likelihood.name == "poisson" else torch.int64
    )


@pytest.mark.parametrize(
    "each", [Bernoulli(), Categorical(3), Poisson()], ids=["two classes", "three classes", "counts"]
)
def test_supervised_sums_losses_and_averages_probabilities(each):
    likelihood, targets = Supervised(each, 2), sample_targets(each)
    sets = [sample_scores(each, seed) for seed in (1, 2)]
    scores = torch.cat(sets, dim=1)
    torch.testing.assert_close(
        likelihood.outputs(scores), torch.stack([each.outputs(part) for part in sets]).mean(dim=0)
    )
    torch.testing.assert_close(likelihood.loss(scores, targets), sum(each.loss(part, targets) for part in sets))
    outputs = likelihood.outputs(scores)
    torch.testing.assert_close(likelihood.outputs(torch.from_numpy(likelihood.link(outputs.numpy()))), outputs)
    torch.testing.assert_close(each.outputs(likelihood.combine_scores(scores)), outputs)


def test_densities_are_the_exponential_of_minus_the_loss():
    scores, targets = sample_scores(Poisson()), sample_targets(Poisson())
    outputs = Poisson().outputs(scores).numpy()
    expected = (-Poisson().loss(scores, targets)).exp().numpy()
    np.testing.assert_allclose(Poisson().densities(outputs, targets.numpy()), expected)
    np.testing.assert_allclose(
        Poisson().output_errors(outputs, targets.numpy()), np.abs(outputs[:, 0] - targets.numpy())
    )
