import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.taking import as_bags, class_numbers, is_list_of_bags, known_class_numbers


def test_what_counts_as_a_list_of_bags():
    assert is_list_of_bags([np.zeros((2, 3))])
    assert is_list_of_bags([[[1.0], [2.0, 3.0]], [[1.0]]]), "a ragged first bag is a bag, to be refused by name"
    assert is_list_of_bags([np.zeros(0), np.zeros((2, 3))]), "an empty first bag is one of a list"
    assert not is_list_of_bags([[1.0, 2.0], [3.0, 4.0]])
    assert not is_list_of_bags(np.zeros((2, 3)))
    assert not is_list_of_bags([])
    assert not is_list_of_bags("bags")


@pytest.mark.parametrize(
    ("bags", "message"),
    [
        ([[[1.0], [2.0, 3.0]], [[1.0]]], "bag 0 has rows of different lengths"),
        ([np.zeros(0), np.zeros((2, 3))], "bag 0 is without instances"),
    ],
)
def test_bad_bags_of_a_list_are_named(bags, message):
    with pytest.raises(InputError, match=message):
        as_bags(bags)


def test_every_form_of_bags_becomes_bags():
    rows = np.arange(6.0).reshape(3, 2)
    packed = Bags.from_list([rows])
    assert as_bags(packed) is packed
    assert as_bags([rows]).sizes.tolist() == [3]
    assert as_bags(rows).sizes.tolist() == [1, 1, 1]


def test_classes_are_in_rising_order_and_every_bag_has_the_number_of_its_own():
    classes, numbers = class_numbers(["yes", "no", "yes"], 3)
    assert (classes.tolist(), numbers.tolist()) == (["no", "yes"], [1, 0, 1])


@pytest.mark.parametrize("y", [[0.5, 1.5, 2.5], [1, "one", None], np.zeros((3, 2))], ids=str)
def test_what_is_no_class_is_refused(y):
    with pytest.raises(InputError):
        class_numbers(y, 3)


def test_labels_of_another_type_are_the_same_where_they_are_equal():
    assert known_class_numbers([1.0, 0.0], np.array([0, 1]), 2).tolist() == [1, 0]
    assert known_class_numbers([True, False], np.array([0, 1]), 2).tolist() == [1, 0]
    with pytest.raises(InputError, match="labels '1' are unknown to the model, which was trained on: 0, 1"):
        known_class_numbers(["1"], np.array([0, 1]), 1)
    with pytest.raises(InputError, match="y holds 1 labels for 2 bags"):
        known_class_numbers([1], np.array([0, 1]), 2)
