"""Data frames with one row per instance: bags do not depend on how their rows are interleaved."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from unchecked import unchecked


def make_frame(**changes):
    """Return a data frame of three bags with interleaved rows."""
    columns = {
        "id": ["b", "a", "b", "c", "a", "b"],
        "y": [1, 0, 1, 1, 0, 1],
        "patient": ["p", "q", "p", "q", "q", "p"],
        "key": [0, 1, 2, 3, 4, 5],
        "x1": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        "x2": [0, 10, 20, 30, 40, 50],
    }
    return pd.DataFrame({**columns, **changes})


def pack(frame):
    return Bags.from_frame(frame, bag="id", label="y", group="patient", instance_label="key")


def test_from_frame_gathers_interleaved_rows_in_the_order_of_first_rows():
    bags = pack(make_frame())
    assert bags.names.tolist() == ["b", "a", "c"]
    assert bags.labels.tolist() == [1, 0, 1]
    assert bags.groups.tolist() == ["p", "q", "q"]
    assert bags.offsets.tolist() == [0, 3, 5, 6]
    assert bags.instance_labels.tolist() == [0, 2, 5, 1, 4, 3]
    assert bags.instances.tolist() == [[0, 0], [2, 20], [5, 50], [1, 10], [4, 40], [3, 30]]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from("zyxwv"), min_size=1, max_size=20))
def test_from_frame_keeps_the_order_of_rows_within_a_bag(ids):
    frame = pd.DataFrame({"id": ids, "y": [ord(bag) for bag in ids], "x": np.arange(len(ids))})
    bags = Bags.from_frame(frame, bag="id", label="y")
    assert bags.names.tolist() == list(dict.fromkeys(ids))
    for number, name in enumerate(bags.names):
        assert bags[number].ravel().tolist() == [row for row, bag in enumerate(ids) if bag == name]
        assert bags.labels[number] == ord(name)


def test_from_frame_ignores_the_index_of_the_frame():
    shuffled = make_frame().set_axis([5, 5, 3, 0, 1, 2])
    assert pack(shuffled).instances.tolist() == pack(make_frame()).instances.tolist()


def test_from_frame_uses_columns_without_a_role_as_features():
    bags = Bags.from_frame(make_frame().drop(columns=["patient", "y"]), bag="id")
    assert bags.feature_names == ("key", "x1", "x2")
    assert bags.labels is None
    assert bags.groups is None


@pytest.mark.parametrize(("name", "field"), [("y", "labels"), ("Class", "labels"), ("patient_id", "groups")])
def test_from_frame_recognises_labels_and_groups_by_common_names_so_that_they_do_not_become_features(name, field):
    frame = make_frame().rename(columns={"y": name})
    bags = Bags.from_frame(frame.drop(columns="patient"), bag="id")
    assert bags.feature_names == ("key", "x1", "x2")
    assert getattr(bags, field).tolist() == [1, 0, 1]


def test_from_frame_rejects_several_columns_that_could_be_the_label():
    frame = make_frame(target=0)
    with pytest.raises(InputError, match=r"could be the label \(y, target\).*label='y', and drop the rest"):
        Bags.from_frame(frame, bag="id", group="patient")
    assert "target" in Bags.from_frame(frame, bag="id", group="patient", label="y").feature_names


def test_from_frame_converts_bag_names_to_text():
    assert pack(make_frame(id=[7, 3, 7, 1, 3, 7])).names.tolist() == ["7", "3", "1"]


def test_from_frame_reads_numbers_written_as_text():
    assert pack(make_frame(x1=["0", "1", "2.5", "3", "4", "5"])).instances[1, 0] == 2.5


@pytest.mark.parametrize(("column", "field"), [("y", "label"), ("patient", "group")])
def test_from_frame_names_bag_row_and_column_of_a_value_that_differs_within_a_bag(column, field):
    values = make_frame()[column].tolist()
    values[4] = "other" if column == "patient" else 9
    with pytest.raises(InputError, match=rf"column '{column}' differs within bag 'a' \(row 4 has .*all rows of a bag"):
        pack(make_frame(**{column: values}))


@pytest.mark.parametrize("role", ["bag", "label", "group", "instance_label"])
def test_from_frame_names_a_missing_column_and_lists_those_of_the_frame(role):
    roles = {"bag": "id", role: "nowhere"}
    with pytest.raises(
        InputError, match=f"{role}='nowhere' is not a column of the frame; it has: id, y, patient, key, x1"
    ):
        Bags.from_frame(make_frame(), **roles)


@pytest.mark.parametrize("value", ["red", None])
def test_from_frame_names_row_and_column_of_text_in_a_feature(value):
    values = pd.Series(["0", "1", value, "3", "4", "5"], dtype=object)
    with pytest.raises(
        InputError, match=r"column 'x1' is not numeric: row 2 has .*; encode it as numbers, or drop the col"
    ):
        pack(make_frame(x1=values))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=str)
def test_from_frame_names_the_row_of_a_missing_bag_name(missing):
    ids = pd.Series(["b", "a", missing, "c", "a", "b"], dtype=object)
    with pytest.raises(InputError, match="column 'id' is empty in row 2; fill it in or drop the row"):
        pack(make_frame(id=ids))


def test_from_frame_names_the_row_of_a_nan_bag_name():
    with pytest.raises(InputError, match="column 'id' is empty in row 3; fill it in or drop the row"):
        pack(make_frame(id=[1, 1, 2, np.nan, 2, 2]))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=str)
def test_from_frame_names_the_row_of_a_missing_label(missing):
    labels = pd.Series([1, missing, 1, 1, missing, 1], dtype=object)
    with pytest.raises(InputError, match="column 'y' is empty in row 1"):
        pack(make_frame(y=labels))


def test_from_frame_reads_nullable_columns_of_pandas():
    bags = pack(make_frame().convert_dtypes())
    assert as_lists(bags) == as_lists(pack(make_frame()))


def as_lists(bags):
    return [bags.instances.tolist(), bags.offsets.tolist(), bags.labels.tolist(), bags.names.tolist()]


def test_from_frame_names_bag_and_row_of_a_missing_feature():
    with pytest.raises(InputError, match="bag 'a' has 1 value that is NaN or infinite, first in its row 1"):
        pack(make_frame(x1=[0, 1, 2, 3, np.nan, 5]))


def test_from_frame_rejects_a_frame_without_rows_or_features():
    with pytest.raises(InputError, match="the frame has no rows; pass one row per instance"):
        pack(make_frame()[:0])
    with pytest.raises(InputError, match="no feature columns besides the named ones; keep at least one numeric"):
        pack(make_frame()[["id", "y", "patient", "key"]])


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=str)
def test_from_frame_names_the_row_of_a_missing_instance_label(missing):
    with pytest.raises(InputError, match="column 'key' is empty in row 4; fill it in or drop the row"):
        pack(make_frame(key=pd.Series([0, 1, 0, 1, missing, 1], dtype=object)))


def test_from_frame_names_the_row_of_an_instance_label_that_is_text():
    with pytest.raises(InputError, match="column 'key' is not numeric: row 0 has 'no'; encode it as numbers"):
        pack(make_frame(key=["no", "yes"] * 3))


@pytest.mark.parametrize("ids", [[1, "1", 1, 2, 2, 2], [True, "True", 1, 1, 2, 2]], ids=str)
def test_from_frame_never_merges_different_bag_names(ids):
    with pytest.raises(InputError, match=r"column 'id' contains (1|True) and '(1|True)' \(row 1\), which would"):
        pack(make_frame(id=pd.Series(ids, dtype=object), y=1, patient="p"))


def test_from_frame_accepts_bag_names_of_mixed_types_with_different_text():
    ids = pd.Series([1, "a", np.int64(1), "b", "a", 1], dtype=object)
    assert pack(make_frame(id=ids)).names.tolist() == ["1", "a", "b"]


@pytest.mark.parametrize("column", ["x1", "y", "id"])
def test_from_frame_names_a_repeated_column(column):
    frame = pd.concat([make_frame(), make_frame()[[column]]], axis=1)
    with pytest.raises(InputError, match=f"more than one column '{column}'; rename or drop all but one"):
        pack(frame)


@pytest.mark.parametrize("dtype", [complex, "timedelta64[s]", "datetime64[s]"])
def test_from_frame_rejects_complex_numbers_and_dates_as_features(dtype):
    with pytest.raises(InputError, match="column 'x1' is not numeric: row 0 has"):
        pack(make_frame(x1=np.arange(6).astype(dtype)))


def test_from_frame_rejects_what_is_not_a_frame_or_has_no_bag_column():
    with pytest.raises(InputError, match="the frame is a dict without columns; pass a pandas"):
        Bags.from_frame({"id": [1], "x": [1.0]}, bag="id")
    with unchecked(), pytest.raises(InputError, match="bag='None' is not a column of the frame"):
        Bags.from_frame(make_frame(), bag=None)
