import numpy as np
import pytest

from bagwise.datasets import needles
from bagwise.errors import InputError


def test_positive_bags_and_only_they_hold_one_to_three_needles():
    bags = needles.load(n_bags=100)
    held = np.add.reduceat(bags.instance_labels, bags.offsets[:-1])
    assert set(held[bags.labels == 1]) <= {1, 2, 3}
    assert not held[bags.labels == 0].any()


def test_needles_are_shifted_in_the_first_features_only():
    bags = needles.load(n_bags=2000, shift=2.0, n_shifted=4)
    means = bags.instances[bags.instance_labels == 1].mean(axis=0)
    np.testing.assert_allclose(means[:4], 2.0, atol=0.15)
    np.testing.assert_allclose(means[4:], 0.0, atol=0.15)


def test_the_same_seed_gives_the_same_bags():
    np.testing.assert_array_equal(needles.load(seed=3).instances, needles.load(seed=3).instances)


@pytest.mark.parametrize("options", [{"n_bags": 1}, {"mean_size": 0}, {"n_shifted": 17}, {"shift": 1e300}])
def test_impossible_numbers_are_refused(options):
    with pytest.raises(InputError, match="needles needs n_bags of at least 2"):
        needles.load(**options)


def test_features_count_towards_the_memory():
    with pytest.raises(InputError, match="more than 2 GB"):
        needles.load(n_features=10**6)
