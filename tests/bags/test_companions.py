"""What comes with bags and instances: of the right number and kind, or refused by field and bag."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from bagwise.bags import Bags
from bagwise.bags.companions import is_missing, kind_of
from bagwise.errors import InputError


def bags_of(sizes=(2, 3), **companions):
    return Bags(np.ones((sum(sizes), 2)), np.concatenate([[0], np.cumsum(sizes)]), **companions)


@pytest.mark.parametrize("value", [0, "", "nan", "None", False, 0.0, np.array([np.nan]), (), np.str_("")], ids=repr)
def test_what_is_there_is_not_missing(value):
    assert not is_missing(value)


@pytest.mark.parametrize("field", ["labels", "names", "groups", "tile_sizes"])
def test_a_companion_of_bags_must_have_one_value_a_bag(field):
    with pytest.raises(InputError, match=rf"{field} has shape \(3,\) for 2 bags; give one for each, in their order"):
        bags_of(**{field: np.arange(3)})
    for value in (np.array(1), np.ones((2, 1)), np.ones((2, 3))):
        with pytest.raises(InputError, match=rf"{field} has shape .* for 2 bags; give one for each"):
            bags_of(**{field: value})


@pytest.mark.parametrize("field", ["positions", "instance_labels"])
def test_a_companion_of_instances_must_have_one_value_an_instance(field):
    with pytest.raises(InputError, match=rf"{field} has shape \(2, 2\) for 5 instances; give one .*for each"):
        bags_of(**{field: np.ones((2, 2))})


@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 3), (5, 2, 1)])
def test_positions_must_be_x_and_y(shape):
    with pytest.raises(InputError, match=r"positions has shape .* for 5 instances; give one x, y for each"):
        bags_of(positions=np.ones(shape))


def test_instance_labels_are_one_number_an_instance():
    with pytest.raises(InputError, match=r"instance_labels has shape \(5, 1\) for 5 instances; give one for each"):
        bags_of(instance_labels=np.ones((5, 1)))
    assert bags_of(instance_labels=np.array([True, False] * 2 + [True])).instance_labels.dtype == bool


@pytest.mark.parametrize("field", ["tile_sizes", "positions", "instance_labels"])
@pytest.mark.parametrize("dtype", [str, object, complex, "datetime64[s]", np.longdouble])
def test_what_is_measured_is_a_number(field, dtype):
    shape = {"tile_sizes": 2, "positions": (5, 2), "instance_labels": 5}[field]
    with pytest.raises(InputError, match=f"^{field} are .*; give numbers"):
        bags_of(**{field: np.ones(shape, dtype=int).astype(dtype)})


@pytest.mark.parametrize("field", ["positions", "instance_labels"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_measured_is_finite(field, value):
    values = np.ones((5, 2) if field == "positions" else 5)
    values[3] = value
    with pytest.raises(InputError, match=f"{field} hold NaN or infinity, first in row 3; fill it in or"):
        bags_of(**{field: values})


each = pytest.mark.parametrize("field", ["labels", "groups"])


@pytest.mark.parametrize("field", ["labels", "groups", "names"])
@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT")], ids=str)
def test_a_missing_value_names_its_bag(field, missing):
    values = np.array(["yes", None], dtype=object)
    values[1] = missing
    companions = {"names": np.array(["a", "b"]), field: values}
    shown = "1" if field == "names" else "'b'"
    with pytest.raises(InputError, match=f"the {field[:-1]} of bag {shown} is missing; give every bag one or drop it"):
        bags_of(**companions)


@each
def test_a_number_that_is_not_finite_names_its_bag(field):
    with pytest.raises(InputError, match=f"the {field[:-1]} of bag 1 is missing"):
        bags_of(**{field: np.array([1.0, np.nan])})
    for values in (np.array([0.0, np.inf]), np.array([0, np.inf], dtype=object)):
        with pytest.raises(InputError, match=f"the {field[:-1]} of bag 1 is inf; make it finite"):
            bags_of(**{field: values})


@each
@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (np.array([1, "1"], dtype=object), "objects of type int, str"),
        (np.array([True, 2], dtype=object), "objects of type bool, int"),
        (np.array([1, 2], dtype="datetime64[s]"), r"datetime64\[s\]"),
        (np.array([1, 2], dtype="timedelta64[s]"), r"timedelta64\[s\]"),
        (np.array([1j, 2]), "complex128"),
        (np.array([b"a", b"b"]), r"\|S1"),
        (np.fromiter([(1,), (2, 3)], dtype=object), "objects of type tuple"),
        (np.array([Decimal(1), Decimal(2)]), "objects of type Decimal"),
        (np.ones(2, dtype=np.longdouble), str(np.dtype(np.longdouble))),
    ],
    ids=str,
)
def test_values_of_mixed_or_foreign_types_are_refused_with_those_that_are_welcome(field, values, shown):
    with pytest.raises(InputError, match=f"^{field} are {shown}; give words, whole numbers, numbers or booleans, one"):
        bags_of(**{field: values})


@each
@pytest.mark.parametrize("values", [np.array([1, 2**63], dtype=np.uint64), np.array([-(2**63) - 1, 0], dtype=object)])
def test_whole_numbers_that_no_file_of_ours_holds_are_refused(field, values):
    with pytest.raises(InputError, match=f"{field} hold whole numbers of more than 64 bits with a sign; give them as"):
        bags_of(**{field: values})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.array(["a", "b"]), "str"),
        (np.array(["a", np.str_("b")], dtype=object), "str"),
        (np.array([True, False]), "bool"),
        (np.array([True, np.False_], dtype=object), "bool"),
        (np.array([1, 2], dtype=np.uint64), "int"),
        (np.array([1, np.int8(2)], dtype=object), "int"),
        (np.array([1.5, 2], dtype=np.float16), "float"),
        (np.array([1, 2.5], dtype=object), "float"),
    ],
    ids=str,
)
def test_each_kind_is_known_as_array_and_as_objects(values, kind):
    assert kind_of("labels", values) == kind
    assert bags_of(labels=values, groups=values).labels.tolist() == values.tolist()


def test_names_of_bytes_are_to_be_decoded():
    with pytest.raises(InputError, match=r"names are \|S1; decode them to text first"):
        bags_of(names=np.array([b"a", b"b"]))


def test_names_that_occur_twice_are_listed():
    with pytest.raises(InputError, match="bag 'a' is more than once; names must be unique"):
        bags_of(names=np.array(["a", "a"]))
    with pytest.raises(InputError, match="bag 'x', bag 'y' are more than once"):
        bags_of((1, 1, 1, 1, 1), names=np.array(["y", "x", "x", "z", "y"]))


def test_names_that_become_the_same_text_are_the_same():
    with pytest.raises(InputError, match="bag '1' is more than once"):
        bags_of(names=np.array([1, "1"], dtype=object))
