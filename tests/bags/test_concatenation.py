import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.bags.concatenation import concatenate_arrays
from bagwise.errors import InputError
from label_kinds import LABELS


def test_concatenate_arrays_never_mixes_strings_and_numbers():
    strings, integers, floats = np.array(["1"]), np.array([1]), np.array([1.5])
    for field in ("labels", "groups"):
        with pytest.raises(InputError, match=f"cannot concatenate {field} of different types: int, str; convert"):
            concatenate_arrays(field, [integers, strings])
    assert concatenate_arrays("labels", [integers, floats]).tolist() == [1.0, 1.5]
    assert concatenate_arrays("labels", [strings, strings.astype(object)]).tolist() == ["1", "1"]


def test_concatenate_aligns_features_by_name_without_copying_them():
    first = Bags.from_list([[[1.0, 2.0]]], feature_names=["a", "b"])
    second = Bags.from_list([[[4.0, 3.0], [6.0, 5.0]]], feature_names=["b", "a"])
    both = Bags.concatenate([first, second])
    assert both.feature_names == ("a", "b")
    assert both.instances.tolist() == [[1, 2], [3, 4], [5, 6]]
    bases = {id(base.array) for part in (first, second) for base in part.view().bases}
    assert {id(base.array) for base in both.view().bases} == bases


def test_concatenate_rejects_other_features_by_name():
    first = Bags.from_list([[[1.0, 2.0]]], feature_names=["a", "b"])
    other = Bags.from_list([[[1.0, 2.0]]], feature_names=["a", "c"])
    with pytest.raises(InputError, match="features of the first bags \\(missing: 'b'; unknown: 'c'\\)"):
        Bags.concatenate([first, other])
    assert Bags.concatenate([first, other.replace(feature_names=None)]).feature_names is None


@pytest.mark.parametrize("first", LABELS)
@pytest.mark.parametrize("second", LABELS)
def test_concatenate_rejects_labels_of_other_columns_by_name(first, second):
    one, other = (Bags.from_list([[[1.0]]] * 2, **LABELS[kind](2)) for kind in (first, second))
    one_column = {"text", "numbers"}
    if {first, second} == one_column:
        with pytest.raises(InputError, match="cannot concatenate labels of different types: int, str"):
            Bags.concatenate([one, other])
    elif first == second:
        joined = Bags.concatenate([one, other])
        np.testing.assert_array_equal(joined.labels, np.concatenate([one.labels, other.labels]))
        assert joined.label_names == one.label_names
    else:
        with pytest.raises(
            InputError, match=r"cannot concatenate labels of different columns: '.* and '.*; give all bags"
        ):
            Bags.concatenate([one, other])
    assert Bags.concatenate([one, other.replace(labels=None)]).label_names is None
