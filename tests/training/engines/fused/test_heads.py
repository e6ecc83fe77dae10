import numpy as np
import pytest
import torch

pytest.importorskip("numba")

from numba import njit

from bagwise.targets.class_likelihoods import Bernoulli, Categorical
from bagwise.targets.likelihoods import Supervised
from bagwise.training.engines.fused.heads import evaluate_scores
from fused_problems import CLASSES, get_batch_tensors, problem, run_module, run_one_step

LIKELIHOODS = [Bernoulli(), Categorical(2), Categorical(4), Supervised(Bernoulli(), 3), Supervised(Categorical(3), 2)]


@njit
def call_evaluate_scores(scores, target, n_sets, n_scores, gradients):
    return evaluate_scores(scores, target, n_sets, n_scores, gradients)


@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize("connections", [None, "deep supervision", "residual"])
def test_head_forward_matches_the_scores_of_the_torch_module(connections, n_classes):
    encoder = "small" if connections is None else "mlp"
    given = problem(pooling="mean", connections=connections, encoder=encoder, n_classes=n_classes)
    for parameter in given.model.head.parameters():
        parameter.data.normal_()  # initial biases are zero and would not be tested
    workspace, _ = run_one_step(given)
    expected = run_module(given, given.model, *get_batch_tensors(given)).scores.numpy()
    np.testing.assert_allclose(workspace.scores, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("scale", [0.1, 3.0, 300.0])
@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda each: f"{each.name} {each.n_scores}")
def test_evaluate_scores_matches_loss_gradients_and_errors_of_the_likelihood(likelihood, scale):
    each, n_sets = (likelihood.each, likelihood.n_sets) if likelihood.name == "supervised" else (likelihood, 1)
    n_classes = 2 if each.name == "bernoulli" else each.n_scores
    generator = np.random.default_rng(0)
    for _ in range(20):
        scores = torch.tensor(generator.normal(0, scale, (1, likelihood.n_scores)), requires_grad=True)
        target = torch.tensor([generator.integers(n_classes)])
        expected = likelihood.loss(scores, target)
        expected.sum().backward()
        gradients = np.zeros(likelihood.n_scores)
        values = scores.detach().numpy()[0]
        loss, error = call_evaluate_scores(values, target.item(), n_sets, each.n_scores, gradients)
        assert loss == pytest.approx(expected.item(), rel=1e-12, abs=1e-14)
        np.testing.assert_allclose(gradients, scores.grad.numpy()[0], rtol=1e-11, atol=1e-14)
        assert error == likelihood.errors(scores.detach(), target).item()


def test_evaluate_scores_returns_nan_for_a_nan_score():
    assert np.isnan(call_evaluate_scores(np.array([np.nan]), 1, 1, 1, np.zeros(1))[0])
