"""Likelihoods: ``scores`` is the inverse of ``log_probabilities``, and the loss is −log p."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from bagwise.errors import InputError
from bagwise.targets.class_likelihoods import Bernoulli, Categorical, clip_log, make_likelihood

LIKELIHOODS = [Bernoulli(), Bernoulli(positive=0), Categorical(2), Categorical(3), Categorical(7)]
for_each_likelihood = pytest.mark.parametrize(
    "likelihood", LIKELIHOODS, ids=["bernoulli", "first class positive", "categorical2", "categorical3", "categorical7"]
)
laws = settings(max_examples=30, deadline=None, derandomize=True)
seeds = st.integers(0, 10_000)


def count_classes(likelihood):
    return max(2, likelihood.n_scores)


def sample_scores(likelihood, seed=0, scale=3.0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(9, likelihood.n_scores, generator=generator, dtype=torch.float64) * scale


def sample_targets(likelihood, seed=0):
    return torch.randint(count_classes(likelihood), (9,), generator=torch.Generator().manual_seed(seed))


@for_each_likelihood
@laws
@given(seed=seeds)
def test_probabilities_of_all_classes_sum_to_one(likelihood, seed):
    probabilities = likelihood.outputs(sample_scores(likelihood, seed))
    assert probabilities.shape[1] == count_classes(likelihood)
    assert (probabilities > 0).all()
    torch.testing.assert_close(probabilities.sum(1), torch.ones(9, dtype=torch.float64), rtol=0, atol=1e-14)


@laws
@given(seeds)
def test_bernoulli_probabilities_are_the_sigmoid(seed):
    scores = sample_scores(Bernoulli(), seed)
    expected = [[1 - 1 / (1 + math.exp(-s)), 1 / (1 + math.exp(-s))] for s in scores.ravel().tolist()]
    torch.testing.assert_close(Bernoulli().outputs(scores), torch.tensor(expected, dtype=torch.float64))


@laws
@given(seeds)
def test_categorical_probabilities_are_the_softmax(seed):
    scores = sample_scores(Categorical(3), seed)
    expected = [[math.exp(s) / sum(map(math.exp, row)) for s in row] for row in scores.tolist()]
    torch.testing.assert_close(Categorical(3).outputs(scores), torch.tensor(expected, dtype=torch.float64))


@for_each_likelihood
@laws
@given(seed=seeds)
def test_scores_inverts_log_probabilities(likelihood, seed):
    log_probabilities = likelihood.log_probabilities(sample_scores(likelihood, seed))
    restored = likelihood.log_probabilities(likelihood.scores(log_probabilities))
    torch.testing.assert_close(restored, log_probabilities, rtol=1e-12, atol=1e-12)


@laws
@given(seeds)
def test_bernoulli_scores_restores_the_scores(seed):
    scores = sample_scores(Bernoulli(), seed, scale=30.0)
    torch.testing.assert_close(
        Bernoulli().scores(Bernoulli().log_probabilities(scores)), scores, rtol=1e-12, atol=1e-12
    )


@for_each_likelihood
@laws
@given(seed=seeds)
def test_loss_is_minus_the_log_probability_of_the_target(likelihood, seed):
    scores, targets = sample_scores(likelihood, seed, scale=10.0), sample_targets(likelihood, seed)
    chosen = likelihood.log_probabilities(scores)[torch.arange(9), targets]
    torch.testing.assert_close(likelihood.loss(scores, targets), -chosen, rtol=1e-9, atol=1e-12)


@laws
@given(seeds)
def test_loss_agrees_with_torch(seed):
    scores, targets = sample_scores(Bernoulli(), seed, scale=10.0), sample_targets(Bernoulli(), seed)
    expected = functional.binary_cross_entropy_with_logits(scores[:, 0], targets.double(), reduction="none")
    torch.testing.assert_close(Bernoulli().loss(scores, targets), expected, rtol=1e-9, atol=1e-12)
    scores, targets = sample_scores(Categorical(4), seed, scale=10.0), sample_targets(Categorical(4), seed)
    expected = functional.cross_entropy(scores, targets, reduction="none")
    torch.testing.assert_close(Categorical(4).loss(scores, targets), expected, rtol=1e-12, atol=1e-12)


@for_each_likelihood
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_loss_and_gradient_are_finite_for_extreme_scores(likelihood, dtype):
    scores = torch.full((2, likelihood.n_scores), -1e4, dtype=dtype)
    scores[1, -1] = 1e4
    scores.requires_grad_()
    right = torch.from_numpy(likelihood.order_targets(np.array([0, count_classes(likelihood) - 1])))
    gap = 1e4 if likelihood.n_scores == 1 else 2e4
    even = 0.0 if likelihood.n_scores == 1 else math.log(likelihood.n_scores)
    losses = likelihood.loss(scores, right)
    torch.testing.assert_close(losses, torch.tensor([even, 0.0], dtype=dtype))
    wrong = likelihood.loss(scores, right.flip(0))
    torch.testing.assert_close(wrong, torch.tensor([gap if likelihood.n_scores == 1 else even, gap], dtype=dtype))
    (losses + wrong).sum().backward()
    assert scores.grad.isfinite().all()
    assert likelihood.log_probabilities(scores).isfinite().all()
    torch.testing.assert_close(likelihood.outputs(scores).sum(1), torch.ones(2, dtype=dtype))


@for_each_likelihood
def test_gradient_of_the_loss_agrees_with_finite_differences(likelihood):
    scores, targets = sample_scores(likelihood).requires_grad_(), sample_targets(likelihood)
    assert torch.autograd.gradcheck(lambda scores: likelihood.loss(scores, targets), scores)
    assert torch.autograd.gradcheck(likelihood.log_probabilities, scores)


def test_errors_marks_bags_whose_most_probable_class_is_not_the_target():
    scores = torch.tensor([[2.0], [-2.0], [2.0], [-2.0]])
    assert Bernoulli().errors(scores, torch.tensor([1, 0, 0, 1])).tolist() == [0, 0, 1, 1]
    scores = torch.tensor([[0.0, 3.0, 1.0], [5.0, 0.0, 1.0]])
    assert Categorical(3).errors(scores, torch.tensor([1, 2])).tolist() == [0, 1]


def test_bernoulli_errors_predicts_the_first_class_at_a_score_of_zero():
    """This agrees with ``argmax`` for equal probabilities."""
    scores, targets = torch.zeros(2, 1), torch.tensor([0, 1])
    assert Bernoulli().errors(scores, targets).tolist() == [0, 1]
    assert super(Bernoulli, Bernoulli()).errors(scores, targets).tolist() == [0, 1]


@pytest.mark.parametrize("number", [0, 1])
def test_make_likelihood_rejects_one_class(number):
    with pytest.raises(InputError, match="one class only; a classifier needs bags of at least two classes"):
        make_likelihood(number)


@pytest.mark.parametrize(("number", "name", "n_scores"), [(2, "bernoulli", 1), (3, "categorical", 3)])
def test_make_likelihood_has_one_score_for_two_classes_and_one_per_class_for_more(number, name, n_scores):
    assert (make_likelihood(number).name, make_likelihood(number).n_scores) == (name, n_scores)


def test_clip_log_of_zero_is_finite():
    logarithms = clip_log(np.array([[0.0, 1.0], [0.5, 0.5]]))
    assert logarithms.isfinite().all()
    torch.testing.assert_close(logarithms[1], torch.full((2,), 0.5, dtype=torch.float64).log())


@pytest.mark.parametrize("likelihood", LIKELIHOODS[:2], ids=["last class positive", "first class positive"])
def test_bernoulli_has_the_log_odds_of_the_positive_class_as_its_score(likelihood):
    scores, column = torch.tensor([[3.0], [-1.0]], dtype=torch.float64), likelihood.positive
    torch.testing.assert_close(likelihood.outputs(scores)[:, column], torch.sigmoid(scores[:, 0]))
    assert likelihood.errors(scores, torch.tensor([column, 1 - column])).tolist() == [0, 0]
    assert likelihood.score_outputs(scores.numpy())[:, column].tolist() == [3.0, -1.0]
    assert (likelihood.decisions(scores.numpy()) > 0).tolist() == [bool(column), not column]
    assert likelihood.order_targets(np.array([column, 1 - column])).tolist() == [1, 0]


def test_link_returns_finite_log_odds():
    probabilities = np.array([[0.25, 0.75], [1.0, 0.0], [0.0, 1.0]])
    scores = Bernoulli().link(probabilities)
    np.testing.assert_allclose(scores[0], np.log(3))
    assert np.isfinite(scores).all()
    assert scores[1] < -20 < 20 < scores[2]
    np.testing.assert_allclose(Categorical(2).link(probabilities)[0], np.log([0.25, 0.75]))


@for_each_likelihood
def test_score_outputs_is_linear_and_sums_to_zero(likelihood):
    first, second = (sample_scores(likelihood, seed).numpy() for seed in (1, 2))
    both = likelihood.score_outputs(first + second)
    np.testing.assert_allclose(both, likelihood.score_outputs(first) + likelihood.score_outputs(second), atol=1e-13)
    np.testing.assert_allclose(both.sum(axis=1), 0, atol=1e-13)


@for_each_likelihood
def test_score_outputs_are_centred_log_probabilities(likelihood):
    scores = sample_scores(likelihood)
    logs = likelihood.log_probabilities(scores).numpy()
    centred = (
        2 * (logs - logs.mean(axis=1, keepdims=True))
        if likelihood.n_scores == 1
        else logs - logs.mean(axis=1, keepdims=True)
    )
    np.testing.assert_allclose(likelihood.score_outputs(scores.numpy()), centred, atol=1e-12)
