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


def test_impossible_numbers_are_refused():
    with pytest.raises(InputError, match="n_bags of at least 2"):
        needles.load(n_bags=1)
