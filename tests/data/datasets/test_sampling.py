import numpy as np
import pytest

from bagwise.data.datasets.sampling import (
    check_sample_memory,
    sample_bags,
    sample_balanced_bags,
    sample_random_bags,
    sample_truncated_sizes,
)
from bagwise.errors import InputError

IS_TARGET = np.arange(100) % 10 == 9


def count_targets(sampled):
    return np.add.reduceat(IS_TARGET[sampled.rows], sampled.offsets[:-1])


@pytest.mark.parametrize(
    "change", [{"n_bags": 5000}, {"mean_size": 1000}, {"spread": 300}, {"size": 10**5}, {"n_bags": 10**400}]
)
def test_check_sample_memory_rejects_bags_that_would_fill_the_memory(change):
    """500 bags of 100 instances fit in memory; more than 2 GB, due to any of the arguments, do not."""
    fits = {"n_bags": 500, "mean_size": 100, "spread": 20, "size": 28 * 28 * 20}
    check_sample_memory(*fits.values())
    with pytest.raises(InputError, match="more than 2 GB; reduce n_bags or mean_size"):
        check_sample_memory(*(fits | change).values())


def test_sample_bags_labels_a_bag_positive_if_and_only_if_it_contains_a_target():
    sampled = sample_bags(IS_TARGET, 200, 10, 2, np.random.default_rng(0))
    np.testing.assert_array_equal(count_targets(sampled) > 0, sampled.labels == 1)
    assert sampled.labels.sum() == 100


def test_sample_bags_has_sizes_of_the_given_mean_and_spread_and_at_least_one():
    sizes = np.diff(sample_bags(IS_TARGET, 4000, 50, 10, np.random.default_rng(0)).offsets)
    assert abs(sizes.mean() - 50) < 1
    assert abs(sizes.std() - 10) < 0.5
    assert np.diff(sample_bags(IS_TARGET, 500, 1, 3, np.random.default_rng(0)).offsets).min() == 1


def test_sample_bags_samples_a_positive_bag_at_random_given_a_target():
    """The number of targets is binomial given that there is at least one; its mean is K p / (1 − (1 − p)^K)."""
    sampled = sample_bags(IS_TARGET, 4000, 10, 0, np.random.default_rng(0))
    n_targets = count_targets(sampled)[sampled.labels == 1]
    assert n_targets.mean() == pytest.approx(1 / (1 - 0.9**10), abs=0.06)


@pytest.mark.parametrize(
    ("n_bags", "mean", "spread", "message"),
    [
        (1, 10, 2, "n_bags must be at least 2, one bag of each class, got 1"),
        (10, 0, 2, "mean_size must be at least 1 and spread at least 0, got mean_size=0 and spread=2"),
        (10, 5, -1, "got mean_size=5 and spread=-1"),
    ],
)
def test_sample_bags_rejects_invalid_sizes(n_bags, mean, spread, message):
    with pytest.raises(InputError, match=message):
        sample_bags(IS_TARGET, n_bags, mean, spread, np.random.default_rng(0))


def test_sample_truncated_sizes_is_half_an_instance_smaller_and_at_least_one():
    sizes = sample_truncated_sizes(20_000, 50, 10, np.random.default_rng(0))
    assert abs(sizes.mean() - 49.5) < 0.3
    assert sample_truncated_sizes(500, 1, 3, np.random.default_rng(0)).min() == 1


@pytest.mark.parametrize("pool", [np.zeros(5, dtype=bool), np.ones(5, dtype=bool)])
def test_sample_balanced_bags_requires_targets_and_others(pool):
    with pytest.raises(InputError, match="must contain targets and other instances"):
        sample_balanced_bags(pool, np.array([3, 3]), np.random.default_rng(0))


def test_sample_random_bags_labels_bags_by_their_instances():
    sampled = sample_random_bags(IS_TARGET, np.full(4000, 10), np.random.default_rng(0))
    np.testing.assert_array_equal(count_targets(sampled) > 0, sampled.labels == 1)
    assert sampled.labels.mean() == pytest.approx(1 - 0.9**10, abs=0.03)
