import numpy as np
import pytest

from bagwise.data.datasets.needles import load_needles, load_wide_bags
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
    assert str(caught.value).startswith("synthetic bags require n_bags ≥ 2")
    assert f"{name}={value}" in str(caught.value)


def test_load_needles_rejects_features_that_would_fill_the_memory():
    with pytest.raises(InputError, match="more than 2 GB"):
        load_needles(n_features=10**6)


def test_load_wide_bags_has_few_bags_and_many_features_of_which_few_are_informative():
    bags = load_wide_bags()
    assert (bags.n_bags, bags.instance_shape) == (50, (5000,))
    assert bags.labels.mean() == 0.5
    gaps = [bags.instances[bags.instance_labels == label].mean(axis=0) for label in (0, 1)]
    shifts = gaps[1] - gaps[0]
    assert shifts[:20].min() > 1.2, "the shift is 2, known to 0.15"
    np.testing.assert_allclose(shifts[20:].mean(), 0.0, atol=0.02)


def test_load_wide_bags_depend_on_the_seed():
    assert not np.array_equal(load_wide_bags(seed=1).instances[:10], load_wide_bags(seed=2).instances[:10])
