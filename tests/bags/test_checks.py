"""Validation of Bags: every error message names the field or the bag, and a fix."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from bagwise.bags import checks
from bagwise.bags.bags import Bags
from bagwise.bags.checks import get_column_kind, is_missing_value
from bagwise.errors import InputError


def make_bags(sizes=(2, 3), instances=None, **metadata):
    instances = np.ones((sum(sizes), 2)) if instances is None else instances
    return Bags(instances, np.concatenate([[0], np.cumsum(sizes)]), **metadata)


def test_check_layout_rejects_flat_instances_and_shows_how_to_reshape_them():
    with pytest.raises(InputError, match=r"shape \(5,\).*reshape to \(n_instances, 1\)"):
        make_bags(instances=np.ones(5))


@pytest.mark.parametrize("dtype", [object, str, complex, "datetime64[s]", np.longdouble])
def test_check_layout_rejects_instances_that_are_not_real_numbers_of_at_most_64_bits(dtype):
    with pytest.raises(InputError, match=r"instances are .*; convert them to numbers \(float32, uint8 …\)"):
        make_bags(instances=np.ones((5, 2), dtype=int).astype(dtype))


def test_check_layout_rejects_instances_without_features():
    with pytest.raises(InputError, match=r"instances have shape \(5, 0\), so they have no features; give at least one"):
        make_bags(instances=np.ones((5, 0)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint8, np.int64, bool])
def test_check_layout_accepts_real_numbers_of_any_type(dtype):
    assert make_bags(instances=np.ones((5, 2), dtype)).instances.dtype == dtype


@pytest.mark.parametrize("offsets", [[1, 5], [0, 4], [0, 6], [0], [], [[0, 5]]])
def test_check_layout_rejects_offsets_that_do_not_cover_the_rows(offsets):
    with pytest.raises(InputError, match="offsets must be whole numbers from 0 to the number of instances, 5; got"):
        Bags(np.ones((5, 2)), np.array(offsets, dtype=int))


@pytest.mark.parametrize("offsets", [[0.0, 2.5, 5.0], ["0", "5"], [0, None, 5], [0.0, np.nan, 5.0]])
def test_check_layout_rejects_offsets_that_are_not_whole_numbers(offsets):
    with pytest.raises(InputError, match="offsets must be whole numbers from 0 to the number of instances, 5; got"):
        Bags(np.ones((5, 2)), np.array(offsets))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_check_layout_names_the_bag_at_which_offsets_decrease(dtype):
    with pytest.raises(InputError, match="offsets decrease at bag 1; they must increase"):
        Bags(np.ones((5, 2)), np.array([0, 3, 2, 5], dtype))


def test_check_sizes_names_empty_bags():
    with pytest.raises(InputError, match="bag 'b' has no instances; drop empty bags before creating Bags"):
        make_bags((2, 0, 3), names=np.array(["a", "b", "c"]))
    with pytest.raises(InputError, match="bag 0, bag 2 have no instances"):
        make_bags((0, 5, 0))


def test_check_sizes_names_at_most_five_empty_bags():
    with pytest.raises(InputError, match="bag 1, bag 2, bag 3, bag 4, bag 5 and 2 more have no"):
        make_bags((1, 0, 0, 0, 0, 0, 0, 0))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_check_finite_reports_the_bag_the_row_and_the_count(value):
    instances = np.ones((5, 2))
    instances[3, 1] = value
    with pytest.raises(
        InputError, match="bag 1 has 1 value that is NaN or infinite, first in its row 1; fill them in or"
    ):
        make_bags(instances=instances)
    instances[4] = value
    with pytest.raises(InputError, match="bag 'b' has 3 values that are NaN or infinite, first in its row 1; fill"):
        make_bags(instances=instances, names=np.array(["a", "b"]))
    instances[0, 0] = value
    with pytest.raises(InputError, match=r"bag 0 has 1 value .* its row 0 \(and 2 more rows in other bags\)"):
        make_bags(instances=instances)


@pytest.mark.parametrize("chunk", [1, 4, 9, 400])
def test_check_finite_does_not_depend_on_the_chunks(monkeypatch, chunk):
    monkeypatch.setattr(checks, "VALUES_PER_CHUNK", chunk)
    instances = np.ones((9, 2, 2))
    instances[[4, 5, 8], 0, 1] = np.nan
    with pytest.raises(InputError, match=r"bag 1 has 2 values .* its row 1 \(and 1 more row in other bags\)"):
        make_bags((3, 4, 2), instances=instances)


@pytest.mark.parametrize("value", [0, "", "nan", "None", False, 0.0, np.array([np.nan]), (), np.str_("")], ids=repr)
def test_is_missing_value_is_false_for_empty_and_false_values(value):
    assert not is_missing_value(value)


@pytest.mark.parametrize("field", ["labels", "names", "groups", "tile_sizes"])
def test_check_metadata_requires_one_value_per_bag(field):
    with pytest.raises(InputError, match=rf"{field} has shape \(3,\) for 2 bags; give one per bag, in the same order"):
        make_bags(**{field: np.arange(3)})
    for value in (np.array(1), np.ones((2, 0)), *([np.ones((2, 1)), np.ones((2, 3))] if field != "labels" else [])):
        with pytest.raises(InputError, match=rf"{field} has shape .* for 2 bags; give one per bag"):
            make_bags(**{field: value})


@pytest.mark.parametrize("field", ["positions", "instance_labels"])
def test_check_metadata_requires_one_value_per_instance(field):
    with pytest.raises(InputError, match=rf"{field} has shape \(2, 2\) for 5 instances; give one .*per instance"):
        make_bags(**{field: np.ones((2, 2))})


@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 3), (5, 2, 1)])
def test_check_metadata_requires_positions_to_be_x_and_y(shape):
    with pytest.raises(InputError, match=r"positions has shape .* for 5 instances; give one x, y pair per instance"):
        make_bags(positions=np.ones(shape))


def test_check_metadata_requires_one_instance_label_per_instance():
    with pytest.raises(InputError, match=r"instance_labels has shape \(5, 1\) for 5 instances; give one per instance"):
        make_bags(instance_labels=np.ones((5, 1)))
    assert make_bags(instance_labels=np.array([True, False] * 2 + [True])).instance_labels.dtype == bool


@pytest.mark.parametrize("field", ["tile_sizes", "positions", "instance_labels"])
@pytest.mark.parametrize("dtype", [str, object, complex, "datetime64[s]", np.longdouble])
def test_check_metadata_rejects_sizes_positions_and_instance_labels_that_are_not_numbers(field, dtype):
    shape = {"tile_sizes": 2, "positions": (5, 2), "instance_labels": 5}[field]
    with pytest.raises(InputError, match=f"^{field} are .*; give numbers"):
        make_bags(**{field: np.ones(shape, dtype=int).astype(dtype)})


@pytest.mark.parametrize("field", ["positions", "instance_labels"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_check_metadata_rejects_positions_and_instance_labels_that_are_not_finite(field, value):
    values = np.ones((5, 2) if field == "positions" else 5)
    values[3] = value
    with pytest.raises(InputError, match=f"{field} contain NaN or infinity, first in row 3; fill it in or omit"):
        make_bags(**{field: values})


for_labels_and_groups = pytest.mark.parametrize("field", ["labels", "groups"])


@pytest.mark.parametrize("field", ["labels", "groups", "names"])
@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT")], ids=str)
def test_check_present_names_the_bag_of_a_missing_value(field, missing):
    values = np.array(["yes", None], dtype=object)
    values[1] = missing
    metadata = {"names": np.array(["a", "b"]), field: values}
    shown = "1" if field == "names" else "'b'"
    with pytest.raises(InputError, match=f"the {field[:-1]} of bag {shown} is missing; give every bag one, or"):
        make_bags(**metadata)


@for_labels_and_groups
def test_check_metadata_names_the_bag_of_a_label_that_is_not_finite(field):
    with pytest.raises(InputError, match=f"the {field[:-1]} of bag 1 is missing"):
        make_bags(**{field: np.array([1.0, np.nan])})
    for values in (np.array([0.0, np.inf]), np.array([0, np.inf], dtype=object)):
        with pytest.raises(InputError, match=f"the {field[:-1]} of bag 1 is inf; it must be finite"):
            make_bags(**{field: values})


@for_labels_and_groups
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
def test_get_column_kind_rejects_mixed_and_other_types_and_lists_the_valid_ones(field, values, shown):
    with pytest.raises(InputError, match=f"^{field} are {shown}; give strings, integers, floats or booleans, all"):
        make_bags(**{field: values})


@for_labels_and_groups
@pytest.mark.parametrize("values", [np.array([1, 2**63], dtype=np.uint64), np.array([-(2**63) - 1, 0], dtype=object)])
def test_get_column_kind_rejects_integers_beyond_int64(field, values):
    with pytest.raises(InputError, match=f"{field} contain integers beyond the range of int64; give them as"):
        make_bags(**{field: values})


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
def test_get_column_kind_recognises_arrays_and_objects(values, kind):
    assert get_column_kind("labels", values) == kind
    assert make_bags(labels=values, groups=values).labels.tolist() == values.tolist()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.ones((3, 2)), r"labels has shape \(3, 2\) for 2 bags; give one row per bag"),
        (np.ones((2, 2, 1)), r"labels has shape \(2, 2, 1\) for 2 bags; give one per bag"),
        (
            [["a", "b"], ["a", "c"]],
            "labels have 2 columns of <U1; several labels must be numbers or booleans, with NaN",
        ),
        (np.array([["a", None], ["a", 1]], dtype=object), "labels are objects of type int, str; give"),
        (np.array([[True, 2], [None, 1]], dtype=object), "labels are objects of type bool, int; give"),
        (np.ones((2, 2), dtype=complex), "labels are complex128; give"),
        ([[0.0, 1.0], [np.nan, np.inf]], "the label of bag 'b' is inf in column 1; it must be finite, or NaN if it is"),
        (np.array([[1, 0], [2**64 - 1, 0]], dtype=np.uint64), "labels contain integers beyond the range of int64"),
    ],
    ids=str,
)
def test_check_metadata_names_the_fault_of_several_labels(labels, message):
    with pytest.raises(InputError, match=message):
        make_bags(labels=labels, names=["a", "b"])


def make_survival(time, event=(True, False), names=("time", "event")):
    columns = np.asarray(time), np.asarray(event)
    labels = np.empty(2, dtype=[(name, column.dtype) for name, column in zip(names, columns, strict=True)])
    for name, column in zip(names, columns, strict=True):
        labels[name] = column
    return labels


@pytest.mark.parametrize("time", [[1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf]])
def test_check_metadata_names_the_bag_whose_time_is_not_above_zero(time):
    with pytest.raises(InputError, match=f"the time of bag 'b' is {time[1]}; it must be a finite number > 0"):
        make_bags(labels=make_survival(time), names=["a", "b"])


@pytest.mark.parametrize(
    ("labels", "listed"),
    [
        (make_survival([1.0, 2.0], [1, 0]), r"time \(float64\), event \(int64\)"),
        (make_survival(["1", "2"]), r"time \(<U1\), event \(bool\)"),
        (make_survival([1.0, 2.0], names=("months", "event")), r"months \(float64\), event \(bool\)"),
    ],
    ids=str,
)
def test_check_metadata_lists_the_fields_of_labels_that_are_not_event_and_time(labels, listed):
    with pytest.raises(InputError, match=f"labels have the fields {listed}; .* exactly event .* and time"):
        make_bags(labels=labels)


def test_check_names_rejects_bytes():
    with pytest.raises(InputError, match=r"names are \|S1; decode them to text first"):
        make_bags(names=np.array([b"a", b"b"]))


def test_check_metadata_lists_names_that_occur_more_than_once():
    with pytest.raises(InputError, match="bag 'a' occurs more than once; names must be unique"):
        make_bags(names=np.array(["a", "a"]))
    with pytest.raises(InputError, match="bag 'x', bag 'y' occur more than once"):
        make_bags((1, 1, 1, 1, 1), names=np.array(["y", "x", "x", "z", "y"]))


def test_check_metadata_rejects_names_with_the_same_text():
    with pytest.raises(InputError, match="bag '1' occurs more than once"):
        make_bags(names=np.array([1, "1"], dtype=object))
