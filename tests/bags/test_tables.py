"""A table with one row an instance becomes the same bags whatever the order of its rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.bags import Bags
from bagwise.errors import InputError
from unchecked import unchecked


def frame_of(**changes):
    """Three bags whose rows lie between one another."""
    columns = {
        "id": ["b", "a", "b", "c", "a", "b"],
        "y": [1, 0, 1, 1, 0, 1],
        "patient": ["p", "q", "p", "q", "q", "p"],
        "key": [0, 1, 2, 3, 4, 5],
        "x1": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        "x2": [0, 10, 20, 30, 40, 50],
    }
    return pd.DataFrame({**columns, **changes})


def packed(frame):
    return Bags.from_frame(frame, bag="id", label="y", group="patient", instance_label="key")


def test_interleaved_rows_are_gathered_in_the_order_of_first_rows():
    bags = packed(frame_of())
    assert bags.names.tolist() == ["b", "a", "c"]
    assert bags.labels.tolist() == [1, 0, 1]
    assert bags.groups.tolist() == ["p", "q", "q"]
    assert bags.offsets.tolist() == [0, 3, 5, 6]
    assert bags.instance_labels.tolist() == [0, 2, 5, 1, 4, 3]
    assert bags.instances.tolist() == [[0, 0], [2, 20], [5, 50], [1, 10], [4, 40], [3, 30]]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from("zyxwv"), min_size=1, max_size=20))
def test_each_bag_holds_its_own_rows_in_their_order(ids):
    frame = pd.DataFrame({"id": ids, "y": [ord(bag) for bag in ids], "x": np.arange(len(ids))})
    bags = Bags.from_frame(frame, bag="id", label="y")
    assert bags.names.tolist() == list(dict.fromkeys(ids))
    for number, name in enumerate(bags.names):
        assert bags[number].ravel().tolist() == [row for row, bag in enumerate(ids) if bag == name]
        assert bags.labels[number] == ord(name)


def test_the_index_of_the_frame_does_not_matter():
    shuffled = frame_of().set_axis([5, 5, 3, 0, 1, 2])
    assert packed(shuffled).instances.tolist() == packed(frame_of()).instances.tolist()


def test_columns_not_named_are_features():
    bags = Bags.from_frame(frame_of().drop(columns=["patient"]), bag="id")
    assert bags.instance_shape == (4,)
    assert bags.labels is None
    assert bags.groups is None


def test_numbers_as_bag_names_become_text():
    assert packed(frame_of(id=[7, 3, 7, 1, 3, 7])).names.tolist() == ["7", "3", "1"]


def test_numbers_written_as_text_are_read():
    assert packed(frame_of(x1=["0", "1", "2.5", "3", "4", "5"])).instances[1, 0] == 2.5


@pytest.mark.parametrize(("column", "field"), [("y", "label"), ("patient", "group")])
def test_a_value_that_differs_in_a_bag_names_bag_row_and_column(column, field):
    values = frame_of()[column].tolist()
    values[4] = "other" if column == "patient" else 9
    with pytest.raises(InputError, match=rf"column '{column}' differs within bag 'a' \(row 4 has .*every row of a bag"):
        packed(frame_of(**{column: values}))


@pytest.mark.parametrize("role", ["bag", "label", "group", "instance_label"])
def test_a_missing_column_is_named_with_those_that_are_there(role):
    roles = {"bag": "id", role: "nowhere"}
    with pytest.raises(
        InputError, match=f"{role}='nowhere' is not a column of the frame; it has: id, y, patient, key, x1"
    ):
        Bags.from_frame(frame_of(), **roles)


@pytest.mark.parametrize("value", ["red", None])
def test_a_column_of_words_is_named_with_its_row(value):
    values = pd.Series(["0", "1", value, "3", "4", "5"], dtype=object)
    with pytest.raises(
        InputError, match=r"column 'x1' is not numeric: row 2 has .*; encode it as numbers, or drop the col"
    ):
        packed(frame_of(x1=values))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=str)
def test_a_missing_bag_name_names_its_row(missing):
    ids = pd.Series(["b", "a", missing, "c", "a", "b"], dtype=object)
    with pytest.raises(InputError, match="column 'id' is empty in row 2; fill it in or drop the row"):
        packed(frame_of(id=ids))


def test_a_missing_number_as_bag_name_names_its_row():
    with pytest.raises(InputError, match="column 'id' is empty in row 3; fill it in or drop the row"):
        packed(frame_of(id=[1, 1, 2, np.nan, 2, 2]))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=str)
def test_a_label_missing_for_a_whole_bag_is_called_missing(missing):
    labels = pd.Series([1, missing, 1, 1, missing, 1], dtype=object)
    with pytest.raises(InputError, match=r"label of bag 'a' is missing|column 'y' is empty in row 1"):
        packed(frame_of(y=labels))


def test_nullable_columns_of_pandas_are_read():
    bags = packed(frame_of().convert_dtypes())
    assert as_lists(bags) == as_lists(packed(frame_of()))


def as_lists(bags):
    return [bags.instances.tolist(), bags.offsets.tolist(), bags.labels.tolist(), bags.names.tolist()]


def test_a_missing_feature_names_bag_and_row():
    with pytest.raises(InputError, match="bag 'a' has 1 value that is NaN or infinite, first in its row 1"):
        packed(frame_of(x1=[0, 1, 2, 3, np.nan, 5]))


def test_a_frame_without_rows_or_without_features_is_refused():
    with pytest.raises(InputError, match="the frame has no rows; pass one row for each instance"):
        packed(frame_of()[:0])
    with pytest.raises(InputError, match="no feature columns besides the named ones; keep at least one column of num"):
        packed(frame_of()[["id", "y", "patient", "key"]])


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=str)
def test_a_missing_instance_label_names_its_row(missing):
    with pytest.raises(InputError, match="column 'key' is empty in row 4; fill it in or drop the row"):
        packed(frame_of(key=pd.Series([0, 1, 0, 1, missing, 1], dtype=object)))


def test_an_instance_label_that_is_a_word_names_its_row():
    with pytest.raises(InputError, match="column 'key' is not numeric: row 0 has 'no'; encode it as numbers"):
        packed(frame_of(key=["no", "yes"] * 3))


@pytest.mark.parametrize("ids", [[1, "1", 1, 2, 2, 2], [True, "True", 1, 1, 2, 2]], ids=str)
def test_names_that_differ_are_never_merged(ids):
    with pytest.raises(InputError, match=r"column 'id' holds (1|True) and '(1|True)' \(row 1\), which would be one"):
        packed(frame_of(id=pd.Series(ids, dtype=object), y=1, patient="p"))


def test_names_of_mixed_types_that_stay_apart_are_read():
    ids = pd.Series([1, "a", np.int64(1), "b", "a", 1], dtype=object)
    assert packed(frame_of(id=ids)).names.tolist() == ["1", "a", "b"]


@pytest.mark.parametrize("column", ["x1", "y", "id"])
def test_a_column_that_is_there_twice_is_named(column):
    frame = pd.concat([frame_of(), frame_of()[[column]]], axis=1)
    with pytest.raises(InputError, match=f"more than one column '{column}'; rename or drop all but one"):
        packed(frame)


@pytest.mark.parametrize("dtype", [complex, "timedelta64[s]", "datetime64[s]"])
def test_numbers_of_other_kinds_are_no_features(dtype):
    with pytest.raises(InputError, match="column 'x1' is not numeric: row 0 has"):
        packed(frame_of(x1=np.arange(6).astype(dtype)))


def test_what_is_no_frame_or_has_no_column_of_bags_is_refused():
    with pytest.raises(InputError, match="the frame, a dict, has no columns; pass a data frame"):
        Bags.from_frame({"id": [1], "x": [1.0]}, bag="id")
    with unchecked(), pytest.raises(InputError, match="bag='None' is not a column of the frame"):
        Bags.from_frame(frame_of(), bag=None)
