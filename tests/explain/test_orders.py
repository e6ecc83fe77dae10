"""Sampled orders against Shapley's own formula, a sum over subsets."""

import math
from itertools import combinations

import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.explain.orders import Walk, block_shares, cheap_steps, dear_steps, plan_walk, sampled_orders, share_steps

DRAWS = np.random.default_rng(6)
ALL_OF_FIVE = math.factorial(5)


def bag_of(values):
    return Bags(np.array(values, dtype=np.float64)[:, None], np.array([0, len(values)]))


def game(worth):
    """Scores along a walk of a bag whose instances are numbers."""

    def score(bag, walk):
        values = bag.instances[:, 0]
        along = [[worth(values[order[:edge]]) for edge in walk.edges[1:]] for order in walk.orders]
        return np.array(along)[:, :, None] * [-1.0, 1.0]

    return score


def shapley(values, worth):
    """φₖ = Σ over subsets S without k of |S|! (K − |S| − 1)! / K! (v(S with k) − v(S)); nothing is worth nothing."""
    size, found = len(values), np.zeros(len(values))
    for k in range(size):
        others = [other for other in range(size) if other != k]
        for subset in (list(chosen) for n in range(size) for chosen in combinations(others, n)):
            factor = math.factorial(len(subset)) * math.factorial(size - len(subset) - 1) / math.factorial(size)
            before = worth(values[subset]) if subset else 0.0
            found[k] += factor * (worth(values[[*subset, k]]) - before)
    return found


WORTHS = {
    "max": np.max,
    "mean": np.mean,
    "noisy or": lambda values: 1 - np.prod(1 - 1 / (1 + np.exp(-values))),
    "log of the sum of squares": lambda values: float(np.log((values**2).sum())),
}


@pytest.mark.parametrize("worth", WORTHS.values(), ids=list(WORTHS))
def test_all_orders_give_the_shapley_values(worth):
    values = DRAWS.normal(size=5)
    found = sampled_orders(bag_of(values), np.full(5, 0.2), ALL_OF_FIVE, game(worth), cheap_steps)
    expected = shapley(values, worth)
    np.testing.assert_allclose(found.contributions, np.stack([-expected, expected], axis=1), atol=1e-12)
    np.testing.assert_allclose(found.scores, [[-worth(values), worth(values)]], rtol=1e-12)
    np.testing.assert_array_equal(found.baseline, [0, 0])


def test_equal_instances_get_equal_shares_under_all_orders():
    equal = sampled_orders(bag_of([1.0, 3.0, 3.0, 3.0]), np.full(4, 0.25), 24, game(np.max), cheap_steps)
    found = equal.contributions[:, 1]
    np.testing.assert_allclose(found[1:], found[1], rtol=1e-12)
    assert found[0] < found[1]


@pytest.mark.parametrize("n_orders", [1, 2, 7, 8])
@pytest.mark.parametrize("size", [1, 2, 30])
def test_of_a_sum_each_gets_its_own_term_whatever_the_orders(n_orders, size):
    values = DRAWS.normal(size=size)
    found = sampled_orders(bag_of(values), np.full(size, 1 / size), n_orders, game(np.sum), cheap_steps)
    np.testing.assert_allclose(found.contributions[:, 1], values, atol=1e-12)


@pytest.mark.parametrize("n_orders", [1, 2, 7, 8])
def test_contributions_add_up_to_the_score_whatever_the_orders(n_orders):
    values = DRAWS.normal(size=40)
    found = sampled_orders(bag_of(values), DRAWS.dirichlet(np.ones(40)), n_orders, game(np.max), cheap_steps)
    np.testing.assert_allclose(found.contributions.sum(axis=0), found.scores[0], rtol=1e-12)
    assert found.scores[0, 1] == values.max()


def test_more_orders_come_nearer_to_the_shapley_values():
    values = DRAWS.normal(size=9)
    few, many = (sampled_orders(bag_of(values), np.ones(9) / 9, n, game(np.max), cheap_steps) for n in (2, 2000))
    errors = [np.abs(each.contributions[:, 1] - shapley(values, np.max)).max() for each in (few, many)]
    assert errors[1] < 0.1 * errors[0]


def test_orders_are_permutations_that_come_with_their_reverse():
    walk = plan_walk(50, n_orders=8, n_steps=50)
    assert walk.orders.shape == (8, 50)
    np.testing.assert_array_equal(np.sort(walk.orders, axis=1), np.tile(np.arange(50), (8, 1)))
    np.testing.assert_array_equal(walk.orders[::2], walk.orders[1::2, ::-1])
    assert len(np.unique(walk.orders, axis=0)) == 8
    assert len(plan_walk(50, n_orders=5, n_steps=50).orders) == 5


@pytest.mark.parametrize("n_steps", [cheap_steps, dear_steps])
@pytest.mark.parametrize("size", [1, 199, 200, 201, 399, 12345])
def test_a_walk_goes_from_none_to_all_in_even_steps(size, n_steps):
    edges = plan_walk(size, 2, n_steps(size)).edges
    lengths = np.diff(edges)
    assert (edges[0], edges[-1], len(lengths)) == (0, size, n_steps(size))
    assert lengths.min() >= 1
    assert lengths.max() - lengths.min() <= 1


@pytest.mark.parametrize("size", [50, 200, 300, 1500])
def test_dear_steps_read_no_more_rows_than_those_of_a_bag_without_blocks(size):
    plain = plan_walk(200, 1, dear_steps(200)).edges.sum()
    assert dear_steps(200) == 200
    assert plan_walk(size, 1, dear_steps(size)).edges.sum() <= plain + size  # as the last step reads the whole bag


def test_a_bag_is_explained_the_same_in_any_company():
    values = DRAWS.normal(size=36)
    together = Bags(values[:, None], np.array([0, 6, 21, 36]))
    weights, score = np.full(36, 0.1), game(np.max)
    whole = sampled_orders(together, weights, 4, score, cheap_steps)
    alone = sampled_orders(together[[1]], weights[6:21], 4, score, cheap_steps)
    np.testing.assert_array_equal(whole.contributions[6:21], alone.contributions)
    np.testing.assert_array_equal(whole.scores[[1]], alone.scores)


def test_a_block_shares_its_step_by_weight_and_evenly_without_weights():
    walk = Walk(np.array([[3, 1, 0, 2]]), np.array([0, 2, 4]))
    scores = np.array([[[10.0], [14.0]]])
    credit = share_steps(walk, scores, np.array([0.0, 0.1, 0.0, 0.3]))
    np.testing.assert_allclose(credit[:, 0], [2.0, 2.5, 2.0, 7.5])


def test_shares_of_blocks_sum_to_one_also_in_float32():
    weights = DRAWS.dirichlet(np.ones(1000)).astype(np.float32)
    edges = plan_walk(1000, n_orders=1, n_steps=200).edges
    np.testing.assert_allclose(np.add.reduceat(block_shares(weights, edges), edges[:-1]), 1, rtol=1e-14)


def test_in_blocks_contributions_add_up_too():
    values = DRAWS.normal(size=20)
    found = sampled_orders(bag_of(values), DRAWS.dirichlet(np.ones(20)), 4, game(np.max), lambda size: 3)
    np.testing.assert_allclose(found.contributions[:, 1].sum(), values.max(), rtol=1e-12)
