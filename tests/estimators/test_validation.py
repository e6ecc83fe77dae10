import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.validation import (
    as_bags,
    is_list_of_bags,
    make_singleton_bags,
)


def test_as_bags_converts_every_form_of_input():
    rows = np.arange(6.0).reshape(3, 2)
    packed = Bags.from_list([rows])
    assert as_bags(packed) is packed
    assert as_bags([rows]).sizes.tolist() == [3]
    assert as_bags(rows).sizes.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("bags", "message"),
    [
        ([[[1.0], [2.0, 3.0]], [[1.0]]], "bag 0 has rows of different lengths"),
        ([np.zeros(0), np.zeros((2, 3))], "bag 0 has no instances"),
    ],
    ids=["ragged", "empty"],
)
def test_as_bags_names_an_invalid_bag_of_a_list(bags, message):
    with pytest.raises(InputError, match=message):
        as_bags(bags)


def test_is_list_of_bags_distinguishes_lists_of_arrays_from_2d_arrays():
    assert is_list_of_bags([np.zeros((2, 3))])
    assert is_list_of_bags([[[1.0], [2.0, 3.0]], [[1.0]]]), "a ragged first bag is rejected later"
    assert is_list_of_bags([np.zeros(0), np.zeros((2, 3))]), "an empty first bag is rejected later"
    assert not is_list_of_bags([[1.0, 2.0], [3.0, 4.0]])
    assert not is_list_of_bags(np.zeros((2, 3)))
    assert not is_list_of_bags([])
    assert not is_list_of_bags("bags")


def test_make_singleton_bags_makes_bags_of_one_instance():
    rows = np.arange(6.0).reshape(3, 2)
    bags = make_singleton_bags(rows)
    assert bags.sizes.tolist() == [1, 1, 1]
    np.testing.assert_array_equal(bags.instances, rows)


def test_as_bags_takes_3d_arrays_as_bags_of_equal_size_without_a_copy():
    array = np.arange(24.0).reshape(4, 3, 2)
    bags = as_bags(array)
    assert bags.sizes.tolist() == [3, 3, 3, 3]
    np.testing.assert_array_equal(bags[1], array[1])
    assert np.shares_memory(bags.instances, array)
    assert as_bags(np.zeros((2, 3, 8, 8))).instance_shape == (8, 8)


@pytest.mark.parametrize("model", [BagClassifier(epochs=2, random_state=0), PooledClassifier(random_state=0)])
def test_estimators_accept_every_form_of_the_same_bags(model):
    array, labels = np.random.default_rng(0).normal(size=(12, 3, 2)), np.arange(12) % 2
    expected = model.fit(list(array), labels).predict_proba(list(array))
    for same in (array, [sparse.csr_array(bag) for bag in array]):
        np.testing.assert_array_equal(model.fit(same, labels).predict_proba(same), expected)
    frames = [pd.DataFrame(bag, columns=["mass", "charge"]) for bag in array]
    np.testing.assert_array_equal(model.fit(frames, labels).predict_proba(frames), expected)
    assert model.feature_names_in_.tolist() == ["mass", "charge"]
    swapped = [frame[["charge", "mass"]] for frame in frames]
    np.testing.assert_array_equal(model.predict_proba(swapped), expected)
