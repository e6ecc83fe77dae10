"""Sampled permutations are compared with Shapley's formula, which is a sum over subsets.

Scores of prefixes are compared with the forward pass of the model over every prefix, pooled in float64.
"""

import copy
import math
from itertools import combinations

import numpy as np
import pytest
import torch

from bagwise.bags.bags import Bags
from bagwise.explain import shapley
from bagwise.explain.shapley import (
    PermutationPlan,
    choose_rescored_blocks,
    choose_streamed_blocks,
    compute_block_shares,
    credit_increments,
    estimate_shapley_values,
    make_network_scorer,
    plan_permutations,
)
from sensible_models import LIKELIHOODS, every, model_of

RNG = np.random.default_rng(6)
ALL_PERMUTATIONS_OF_FIVE = math.factorial(5)


def make_bag(values):
    return Bags(np.array(values, dtype=np.float64)[:, None], np.array([0, len(values)]))


def make_scorer(value_function):
    """Return a scorer of prefixes of a bag whose instances are numbers."""

    def score(bag, plan):
        values = bag.instances[:, 0]
        scores = [
            [value_function(values[permutation[:edge]]) for edge in plan.edges[1:]] for permutation in plan.permutations
        ]
        return np.array(scores)[:, :, None] * [-1.0, 1.0]

    return score


def compute_exact_shapley_values(values, value_function):
    """Compute φₖ = Σ over subsets S without k of |S|! (K − |S| − 1)! / K! (v(S with k) − v(S)), with v(∅) = 0."""
    size, found = len(values), np.zeros(len(values))
    for k in range(size):
        others = [other for other in range(size) if other != k]
        for subset in (list(chosen) for n in range(size) for chosen in combinations(others, n)):
            factor = math.factorial(len(subset)) * math.factorial(size - len(subset) - 1) / math.factorial(size)
            before = value_function(values[subset]) if subset else 0.0
            found[k] += factor * (value_function(values[[*subset, k]]) - before)
    return found


VALUE_FUNCTIONS = {
    "max": np.max,
    "mean": np.mean,
    "noisy or": lambda values: 1 - np.prod(1 - 1 / (1 + np.exp(-values))),
    "log of the sum of squares": lambda values: float(np.log((values**2).sum())),
}


@pytest.mark.parametrize("value_function", VALUE_FUNCTIONS.values(), ids=list(VALUE_FUNCTIONS))
def test_estimate_shapley_values_with_all_permutations_is_exact(value_function):
    values = RNG.normal(size=5)
    found = estimate_shapley_values(
        make_bag(values), np.full(5, 0.2), ALL_PERMUTATIONS_OF_FIVE, make_scorer(value_function), choose_streamed_blocks
    )
    expected = compute_exact_shapley_values(values, value_function)
    np.testing.assert_allclose(found.contributions, np.stack([-expected, expected], axis=1), atol=1e-12)
    np.testing.assert_allclose(found.scores, [[-value_function(values), value_function(values)]], rtol=1e-12)
    np.testing.assert_array_equal(found.baseline, [0, 0])


def test_estimate_shapley_values_of_equal_instances_are_equal():
    equal = estimate_shapley_values(
        make_bag([1.0, 3.0, 3.0, 3.0]), np.full(4, 0.25), 24, make_scorer(np.max), choose_streamed_blocks
    )
    found = equal.contributions[:, 1]
    np.testing.assert_allclose(found[1:], found[1], rtol=1e-12)
    assert found[0] < found[1]


@pytest.mark.parametrize("n_permutations", [1, 2, 7, 8])
@pytest.mark.parametrize("size", [1, 2, 30])
def test_estimate_shapley_values_of_a_sum_are_its_terms(n_permutations, size):
    values = RNG.normal(size=size)
    found = estimate_shapley_values(
        make_bag(values), np.full(size, 1 / size), n_permutations, make_scorer(np.sum), choose_streamed_blocks
    )
    np.testing.assert_allclose(found.contributions[:, 1], values, atol=1e-12)


@pytest.mark.parametrize("n_permutations", [1, 2, 7, 8])
def test_estimate_shapley_values_sum_to_the_score(n_permutations):
    values = RNG.normal(size=40)
    found = estimate_shapley_values(
        make_bag(values), RNG.dirichlet(np.ones(40)), n_permutations, make_scorer(np.max), choose_streamed_blocks
    )
    np.testing.assert_allclose(found.contributions.sum(axis=0), found.scores[0], rtol=1e-12)
    assert found.scores[0, 1] == values.max()


def test_estimate_shapley_values_converges_with_more_permutations():
    values = RNG.normal(size=9)
    few, many = (
        estimate_shapley_values(make_bag(values), np.ones(9) / 9, n, make_scorer(np.max), choose_streamed_blocks)
        for n in (2, 2000)
    )
    errors = [
        np.abs(each.contributions[:, 1] - compute_exact_shapley_values(values, np.max)).max() for each in (few, many)
    ]
    assert errors[1] < 0.1 * errors[0]


def test_plan_permutations_samples_permutations_and_their_reverses():
    plan = plan_permutations(50, n_permutations=8, n_blocks=50)
    assert plan.permutations.shape == (8, 50)
    np.testing.assert_array_equal(np.sort(plan.permutations, axis=1), np.tile(np.arange(50), (8, 1)))
    np.testing.assert_array_equal(plan.permutations[::2], plan.permutations[1::2, ::-1])
    assert len(np.unique(plan.permutations, axis=0)) == 8
    assert len(plan_permutations(50, n_permutations=5, n_blocks=50).permutations) == 5


@pytest.mark.parametrize("choose_n_blocks", [choose_streamed_blocks, choose_rescored_blocks])
@pytest.mark.parametrize("size", [1, 199, 200, 201, 399, 12345])
def test_plan_permutations_divides_a_bag_into_blocks_of_nearly_equal_length(size, choose_n_blocks):
    edges = plan_permutations(size, 2, choose_n_blocks(size)).edges
    lengths = np.diff(edges)
    assert (edges[0], edges[-1], len(lengths)) == (0, size, choose_n_blocks(size))
    assert lengths.min() >= 1
    assert lengths.max() - lengths.min() <= 1


@pytest.mark.parametrize("size", [50, 200, 300, 1500])
def test_choose_rescored_blocks_limits_the_rows_scored(size):
    limit = plan_permutations(200, 1, choose_rescored_blocks(200)).edges.sum()
    assert choose_rescored_blocks(200) == 200
    n_scored = plan_permutations(size, 1, choose_rescored_blocks(size)).edges.sum()
    assert n_scored <= limit + size  # the whole bag is scored for the last block


def test_estimate_shapley_values_of_a_bag_do_not_depend_on_other_bags():
    values = RNG.normal(size=36)
    together = Bags(values[:, None], np.array([0, 6, 21, 36]))
    weights, scorer = np.full(36, 0.1), make_scorer(np.max)
    whole = estimate_shapley_values(together, weights, 4, scorer, choose_streamed_blocks)
    alone = estimate_shapley_values(together[[1]], weights[6:21], 4, scorer, choose_streamed_blocks)
    np.testing.assert_array_equal(whole.contributions[6:21], alone.contributions)
    np.testing.assert_array_equal(whole.scores[[1]], alone.scores)


def test_credit_increments_divides_a_block_by_weight_or_equally():
    plan = PermutationPlan(np.array([[3, 1, 0, 2]]), np.array([0, 2, 4]))
    scores = np.array([[[10.0], [14.0]]])
    credit = credit_increments(plan, scores, np.array([0.0, 0.1, 0.0, 0.3]))
    np.testing.assert_allclose(credit[:, 0], [2.0, 2.5, 2.0, 7.5])


def test_compute_block_shares_of_float32_weights_sum_to_one():
    weights = RNG.dirichlet(np.ones(1000)).astype(np.float32)
    edges = plan_permutations(1000, n_permutations=1, n_blocks=200).edges
    np.testing.assert_allclose(np.add.reduceat(compute_block_shares(weights, edges), edges[:-1]), 1, rtol=1e-14)


def test_estimate_shapley_values_in_blocks_sum_to_the_score():
    values = RNG.normal(size=20)
    found = estimate_shapley_values(
        make_bag(values), RNG.dirichlet(np.ones(20)), 4, make_scorer(np.max), lambda size: 3
    )
    np.testing.assert_allclose(found.contributions[:, 1].sum(), values.max(), rtol=1e-12)


ROWS = np.random.default_rng(3).normal(size=(7, 4)).astype(np.float32)


@every
@pytest.mark.parametrize(("n_blocks", "limit"), [pytest.param(7, 1000, marks=pytest.mark.full), (3, 15)])
def test_make_network_scorer_scores_every_prefix_as_the_model_does(case, n_blocks, limit, monkeypatch):
    monkeypatch.setattr(shapley, "ROWS_AT_ONCE", limit)
    model, likelihood = model_of(case, heads=2, encoder="identity"), LIKELIHOODS[case[2]]
    plan = plan_permutations(len(ROWS), n_permutations=3, n_blocks=n_blocks)
    found = make_network_scorer(model, likelihood, torch.device("cpu"))(Bags(ROWS, np.array([0, len(ROWS)])), plan)
    assert found.shape[:2] == (3, n_blocks)
    pooling, head = copy.deepcopy(model.pooling).double(), copy.deepcopy(model.head).double()
    with torch.no_grad():
        rows = model.encoder(torch.from_numpy(ROWS)).double()
        for permutation, prefix_scores in zip(plan.permutations, found, strict=True):
            for edge, scores in zip(plan.edges[1:], prefix_scores, strict=True):
                prefix = rows[torch.from_numpy(permutation[:edge].copy())]
                expected = likelihood.score_outputs(head(pooling(prefix, torch.tensor([0, edge])).values).numpy())
                np.testing.assert_allclose(scores, expected[0], rtol=1e-10, atol=1e-10)
