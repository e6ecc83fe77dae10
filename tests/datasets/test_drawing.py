import numpy as np
import pytest

from bagwise.datasets.drawing import check_room, draw_bags, draw_balanced, draw_random, truncated_sizes
from bagwise.errors import InputError

TARGET = np.arange(100) % 10 == 9


def test_a_bag_is_positive_if_and_only_if_it_holds_a_target():
    drawn = draw_bags(TARGET, 200, 10, 2, np.random.default_rng(0))
    held = np.add.reduceat(TARGET[drawn.rows], drawn.offsets[:-1])
    np.testing.assert_array_equal(held > 0, drawn.labels == 1)
    assert drawn.labels.sum() == 100


def test_sizes_have_the_mean_and_spread_asked_for_and_are_at_least_one():
    sizes = np.diff(draw_bags(TARGET, 4000, 50, 10, np.random.default_rng(0)).offsets)
    assert abs(sizes.mean() - 50) < 1
    assert abs(sizes.std() - 10) < 0.5
    assert np.diff(draw_bags(TARGET, 500, 1, 3, np.random.default_rng(0)).offsets).min() == 1


def test_a_positive_bag_is_a_plain_draw_that_holds_a_target():
    """Given at least one, the number of targets is binomial: its mean is K p / (1 − (1 − p)^K)."""
    drawn = draw_bags(TARGET, 4000, 10, 0, np.random.default_rng(0))
    held = np.add.reduceat(TARGET[drawn.rows], drawn.offsets[:-1])[drawn.labels == 1]
    assert held.mean() == pytest.approx(1 / (1 - 0.9**10), abs=0.06)


@pytest.mark.parametrize(("n_bags", "mean", "spread"), [(1, 10, 2), (10, 0, 2), (10, 5, -1)])
def test_impossible_numbers_are_refused(n_bags, mean, spread):
    with pytest.raises(InputError):
        draw_bags(TARGET, n_bags, mean, spread, np.random.default_rng(0))


def test_truncated_sizes_are_half_an_instance_smaller_and_at_least_one():
    sizes = truncated_sizes(20_000, 50, 10, np.random.default_rng(0))
    assert abs(sizes.mean() - 49.5) < 0.3
    assert truncated_sizes(500, 1, 3, np.random.default_rng(0)).min() == 1


def test_random_bags_are_labelled_by_what_they_hold():
    sizes = np.full(4000, 10)
    drawn = draw_random(TARGET, sizes, np.random.default_rng(0))
    held = np.add.reduceat(TARGET[drawn.rows], drawn.offsets[:-1])
    np.testing.assert_array_equal(held > 0, drawn.labels == 1)
    assert drawn.labels.mean() == pytest.approx(1 - 0.9**10, abs=0.03)


@pytest.mark.parametrize("pool", [np.zeros(5, dtype=bool), np.ones(5, dtype=bool)])
def test_balanced_bags_need_targets_and_others(pool):
    with pytest.raises(InputError, match="only targets or none"):
        draw_balanced(pool, np.array([3, 3]), np.random.default_rng(0))


@pytest.mark.parametrize(
    "too_much", [{"n_bags": 5000}, {"mean": 1000}, {"spread": 300}, {"size": 10**5}, {"n_bags": 10**400}]
)
def test_bags_that_would_fill_the_memory_are_refused(too_much):
    """MNIST's 500 bags of 100 fit; ten times as many bytes, in whichever way, do not."""
    fits = {"n_bags": 500, "mean": 100, "spread": 20, "size": 28 * 28 * 20}
    check_room(*fits.values())
    with pytest.raises(InputError, match="fewer or smaller bags"):
        check_room(*(fits | too_much).values())
