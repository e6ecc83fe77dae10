import numpy as np
import pytest

from bagwise.datasets import load_dataset
from real_data import needs_real_data

COUNTS = {  # bags, positive ones, instances, features, features that never vary
    "musk1": (92, 47, 476, 166, 0),
    "musk2": (102, 39, 6598, 166, 0),
    "fox": (200, 100, 1320, 230, 108),
    "tiger": (200, 100, 1220, 230, 106),
    "elephant": (200, 100, 1391, 230, 120),
}

pytestmark = needs_real_data(*COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_the_counts_are_those_of_the_literature(name):
    bags = load_dataset(name)
    constant = int((bags.instances == bags.instances[0]).all(axis=0).sum())
    positive = int(bags.labels.sum())
    assert (bags.n_bags, positive, bags.n_instances, *bags.instance_shape, constant) == COUNTS[name]


@pytest.mark.parametrize("name", ["fox", "tiger", "elephant"])
def test_features_that_never_vary_have_a_negligible_deviation(name):
    """Not zero: rounding leaves some just above it, how many depends on the order of summation."""
    instances = load_dataset(name).instances
    constant = (instances == instances[0]).all(axis=0)
    assert instances.std(axis=0)[constant].max() < 1e-12
    assert instances.std(axis=0)[~constant].min() > 1e-6


def test_bags_are_named_as_in_the_file_and_musk_is_not_swapped():
    musk1, musk2 = load_dataset("musk1"), load_dataset("musk2")
    assert musk1.names[0] == "MUSK-188"
    assert musk1.names[-1] == "NON-MUSK-jp13"
    assert musk2.sizes.max() == 1044
    for bags in (musk1, musk2):
        assert [name.startswith("MUSK") for name in bags.names] == (bags.labels == 1).tolist()
    assert load_dataset("fox").names.tolist() == [str(number) for number in range(1, 201)]


def test_values_are_as_in_the_file():
    bags = load_dataset("musk1")
    assert bags.instances.dtype == np.float32
    assert (bags.instances == np.rint(bags.instances)).all()
    assert np.abs(bags.instances).max() > 100
