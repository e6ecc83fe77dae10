import numpy as np
import pytest

from bagwise.data.datasets.needles import load_needles
from bagwise.errors import InputError


def test_load_needles_puts_one_to_three_needles_into_positive_bags_only():
    bags = load_needles(n_bags=100)
    n_needles = np.add.reduceat(bags.instance_labels, bags.offsets[:-1])
    assert set(n_needles[bags.labels == 1]) <= {1, 2, 3}
    assert not n_needles[bags.labels == 0].any()


def test_load_needles_shifts_needles_in_the_first_features_only():
    bags = load_needles(n_bags=2000, shift=2.0, n_shifted=4)
    means = bags.instances[bags.instance_labels == 1].mean(axis=0)
    np.testing.assert_allclose(means[:4], 2.0, atol=0.15)
    np.testing.assert_allclose(means[4:], 0.0, atol=0.15)


def test_load_needles_gives_the_same_bags_for_the_same_seed():
    np.testing.assert_array_equal(load_needles(seed=3).instances, load_needles(seed=3).instances)


@pytest.mark.parametrize("options", [{"n_bags": 1}, {"mean_size": 0}, {"n_shifted": 17}, {"shift": 1e300}])
def test_load_needles_rejects_invalid_options(options):
    ((name, value),) = options.items()
    with pytest.raises(InputError) as caught:
        load_needles(**options)
    assert str(caught.value).startswith("needles requires n_bags ≥ 2")
    assert f"{name}={value}" in str(caught.value)


def test_load_needles_rejects_features_that_would_fill_the_memory():
    with pytest.raises(InputError, match="more than 2 GB"):
        load_needles(n_features=10**6)
