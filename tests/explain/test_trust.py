import numpy as np
import pytest

from bagwise.explain.trust import effective_number, judge_trust

DRAWS = np.random.default_rng(2)


def trust_of(weights, spread=None):
    return judge_trust(np.array(weights), np.array([0, len(weights)]), spread)


def test_the_effective_number_is_the_exponential_of_the_entropy():
    parts = [DRAWS.dirichlet(np.ones(size)) for size in (3, 1, 8)]
    expected = [np.exp(-sum(a * np.log(a) for a in part)) for part in parts]
    found = effective_number(np.concatenate(parts), np.array([0, 3, 4, 12]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("used", [1, 3, 7])
def test_equal_weights_on_some_and_none_on_others_count_those(used):
    weights = np.r_[np.full(used, 1 / used), np.zeros(5)]
    np.testing.assert_allclose(effective_number(weights, np.array([0, used + 5])), used, rtol=1e-12)


def test_it_lies_between_one_and_the_number_of_instances_also_in_float32():
    sizes = DRAWS.integers(1, 4000, size=40)
    weights = np.concatenate([np.full(size, 1 / size, dtype=np.float32) for size in sizes])
    found = effective_number(weights, np.r_[0, sizes.cumsum()])
    assert (found <= sizes).all()
    assert (found >= 1).all()
    np.testing.assert_allclose(found, sizes, rtol=1e-12)


def test_top_weights_are_those_of_each_bag():
    found = judge_trust(np.array([0.2, 0.8, 1.0, 0.5, 0.5]), np.array([0, 2, 3, 5]))
    np.testing.assert_array_equal(found.top_weight, [0.8, 1.0, 0.5])
    assert found.warnings == [[], [], []]


def test_weights_on_one_of_many_are_named():
    (found,) = trust_of(np.r_[0.995, np.full(119, 0.005 / 119)]).warnings
    assert found == ["the weights have collapsed on one of 120 instances: the decision rests on it alone"]
    assert trust_of(np.r_[0.98, np.full(119, 0.02 / 119)]).warnings == [[]]


def test_flat_weights_are_named():
    (found,) = trust_of(np.full(40, 1 / 40)).warnings
    assert found == ["the weights are flat: as many as 40.0 of 40 instances count, so they point at none"]
    assert trust_of(np.r_[np.full(30, 1 / 30), np.zeros(10)]).warnings == [[]]


@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.5], [1.0, 0.0, 0.0, 0.0]])
def test_of_a_few_instances_neither_is_said(weights):
    assert trust_of(weights).warnings == [[]]


def test_members_that_point_elsewhere_are_named():
    members = np.eye(5)  # each has all its weight on another instance
    (found,) = trust_of(members.mean(axis=0) + [0.2, 0, 0, 0, -0.2], members.std(axis=0)).warnings
    assert found == [
        "the models disagree about the weights: these deviate by 200% on average, "
        "so another model may point at other instances"
    ]
    assert trust_of([0.6, 0.2, 0.1, 0.1, 0.0], np.full(5, 0.05)).warnings == [[]]
