"""Likelihoods: scores and probabilities are each other's inverse, and the loss is −log p."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from bagwise.errors import InputError
from bagwise.likelihoods import Bernoulli, Categorical, for_classes, logarithms

LIKELIHOODS = [Bernoulli(), Categorical(2), Categorical(3), Categorical(7)]
each = pytest.mark.parametrize(
    "likelihood", LIKELIHOODS, ids=lambda likelihood: f"{likelihood.name}{likelihood.n_scores}"
)
laws = settings(max_examples=30, deadline=None, derandomize=True)
seeds = st.integers(0, 10_000)


def n_classes(likelihood):
    return max(2, likelihood.n_scores)


def scores_of(likelihood, seed=0, scale=3.0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(9, likelihood.n_scores, generator=generator, dtype=torch.float64) * scale


def targets_of(likelihood, seed=0):
    return torch.randint(n_classes(likelihood), (9,), generator=torch.Generator().manual_seed(seed))


@each
@laws
@given(seed=seeds)
def test_probabilities_of_all_classes_sum_to_one(likelihood, seed):
    probabilities = likelihood.probabilities(scores_of(likelihood, seed))
    assert probabilities.shape[1] == n_classes(likelihood)
    assert (probabilities > 0).all()
    torch.testing.assert_close(probabilities.sum(1), torch.ones(9, dtype=torch.float64), rtol=0, atol=1e-14)


@laws
@given(seeds)
def test_bernoulli_is_the_sigmoid(seed):
    scores = scores_of(Bernoulli(), seed)
    expected = [[1 - 1 / (1 + math.exp(-s)), 1 / (1 + math.exp(-s))] for s in scores.ravel().tolist()]
    torch.testing.assert_close(Bernoulli().probabilities(scores), torch.tensor(expected, dtype=torch.float64))


@laws
@given(seeds)
def test_categorical_is_the_softmax(seed):
    scores = scores_of(Categorical(3), seed)
    expected = [[math.exp(s) / sum(map(math.exp, row)) for s in row] for row in scores.tolist()]
    torch.testing.assert_close(Categorical(3).probabilities(scores), torch.tensor(expected, dtype=torch.float64))


@each
@laws
@given(seed=seeds)
def test_scores_is_the_inverse_of_log_probabilities(likelihood, seed):
    log_probabilities = likelihood.log_probabilities(scores_of(likelihood, seed))
    again = likelihood.log_probabilities(likelihood.scores(log_probabilities))
    torch.testing.assert_close(again, log_probabilities, rtol=1e-12, atol=1e-12)


@laws
@given(seeds)
def test_bernoulli_gives_back_its_own_scores(seed):
    scores = scores_of(Bernoulli(), seed, scale=30.0)
    torch.testing.assert_close(
        Bernoulli().scores(Bernoulli().log_probabilities(scores)), scores, rtol=1e-12, atol=1e-12
    )


@each
@laws
@given(seed=seeds)
def test_the_loss_is_minus_the_log_probability_of_the_target(likelihood, seed):
    scores, targets = scores_of(likelihood, seed, scale=10.0), targets_of(likelihood, seed)
    chosen = likelihood.log_probabilities(scores)[torch.arange(9), targets]
    torch.testing.assert_close(likelihood.loss(scores, targets), -chosen, rtol=1e-9, atol=1e-12)


@laws
@given(seeds)
def test_losses_are_those_of_torch(seed):
    scores, targets = scores_of(Bernoulli(), seed, scale=10.0), targets_of(Bernoulli(), seed)
    expected = functional.binary_cross_entropy_with_logits(scores[:, 0], targets.double(), reduction="none")
    torch.testing.assert_close(Bernoulli().loss(scores, targets), expected, rtol=1e-9, atol=1e-12)
    scores, targets = scores_of(Categorical(4), seed, scale=10.0), targets_of(Categorical(4), seed)
    expected = functional.cross_entropy(scores, targets, reduction="none")
    torch.testing.assert_close(Categorical(4).loss(scores, targets), expected, rtol=1e-12, atol=1e-12)


@each
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_scores_have_finite_losses_of_the_right_size(likelihood, dtype):
    scores = torch.full((2, likelihood.n_scores), -1e4, dtype=dtype)
    scores[1, -1] = 1e4
    scores.requires_grad_()
    right = torch.tensor([0, n_classes(likelihood) - 1])
    gap = 1e4 if likelihood.n_scores == 1 else 2e4
    even = 0.0 if likelihood.n_scores == 1 else math.log(likelihood.n_scores)
    losses = likelihood.loss(scores, right)
    torch.testing.assert_close(losses, torch.tensor([even, 0.0], dtype=dtype))
    wrong = likelihood.loss(scores, right.flip(0))
    torch.testing.assert_close(wrong, torch.tensor([gap if likelihood.n_scores == 1 else even, gap], dtype=dtype))
    (losses + wrong).sum().backward()
    assert scores.grad.isfinite().all()
    assert likelihood.log_probabilities(scores).isfinite().all()
    torch.testing.assert_close(likelihood.probabilities(scores).sum(1), torch.ones(2, dtype=dtype))


@each
def test_the_gradient_of_the_loss_agrees_with_finite_differences(likelihood):
    scores, targets = scores_of(likelihood).requires_grad_(), targets_of(likelihood)
    assert torch.autograd.gradcheck(lambda scores: likelihood.loss(scores, targets), scores)
    assert torch.autograd.gradcheck(likelihood.log_probabilities, scores)


def test_errors_count_the_bags_whose_likeliest_class_is_not_the_target():
    scores = torch.tensor([[2.0], [-2.0], [2.0], [-2.0]])
    assert Bernoulli().errors(scores, torch.tensor([1, 0, 0, 1])).tolist() == [0, 0, 1, 1]
    scores = torch.tensor([[0.0, 3.0, 1.0], [5.0, 0.0, 1.0]])
    assert Categorical(3).errors(scores, torch.tensor([1, 2])).tolist() == [0, 1]


@pytest.mark.parametrize("number", [0, 1])
def test_one_class_is_refused(number):
    with pytest.raises(InputError, match="one class only; a classifier needs bags of at least two classes"):
        for_classes(number)


@pytest.mark.parametrize(("number", "name", "n_scores"), [(2, "bernoulli", 1), (3, "categorical", 3)])
def test_two_classes_have_one_score_and_more_have_one_each(number, name, n_scores):
    assert (for_classes(number).name, for_classes(number).n_scores) == (name, n_scores)


def test_the_logarithm_of_nothing_is_finite():
    found = logarithms(np.array([[0.0, 1.0], [0.5, 0.5]]))
    assert found.isfinite().all()
    torch.testing.assert_close(found[1], torch.full((2,), 0.5, dtype=torch.float64).log())
