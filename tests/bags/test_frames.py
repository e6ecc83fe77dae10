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


SEVERAL = {"a": [1, 0, 1, 1, 0, 1], "b": [0.5, None, 0.5, 2.0, None, 0.5]}
SURVIVAL = {"months": [3, 12.5, 3, 40, 12.5, 3], "died": ["yes", "No", "yes", "yes", "No", "yes"]}


def test_from_frame_reads_several_labels_and_missing_ones_as_nan():
    bags = Bags.from_frame(make_frame(**SEVERAL), bag="id", label=["a", "b"])
    np.testing.assert_array_equal(bags.labels, [[1, 0.5], [0, np.nan], [1, 2]])
    assert bags.label_names == ("a", "b")
    assert not {"a", "b"} & {*bags.feature_names}
    objects = pd.DataFrame(make_frame(**SEVERAL)).astype({"b": object})
    objects.loc[[1, 4], "b"] = None
    found = Bags.from_frame(objects.convert_dtypes(), bag="id", label=["a", "b"])
    np.testing.assert_array_equal(found.labels, bags.labels)
    single = Bags.from_frame(make_frame(a=SEVERAL["a"]), bag="id", label=["a"])
    assert (single.labels.tolist(), single.label_names) == ([[1], [0], [1]], ("a",))


@pytest.mark.parametrize("event", [SURVIVAL["died"], [1, 0, 1, 1, 0, 1], [1.0, 0.0, 1.0, 1.0, 0.0, 1.0],
                                   [True, False, True, True, False, True]])  # fmt: skip
def test_from_frame_reads_time_and_event_or_censorship(event):
    frame = make_frame(**{**SURVIVAL, "died": event}).drop(columns="y")
    bags = Bags.from_frame(frame, bag="id", time="months", event="died")
    assert bags.labels.tolist() == [(True, 3.0), (False, 12.5), (True, 40.0)]
    assert not {"months", "died"} & {*bags.feature_names}
    censored = Bags.from_frame(frame, bag="id", time="months", censorship="died")
    assert censored.labels["event"].tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (SEVERAL, {"label": ["a", "z"]}, "label='z' is not a column of the frame"),
        (SEVERAL, {"label": ["a", "a"]}, r"label=\['a', 'a'\] must name different columns"),
        (SEVERAL, {"label": []}, r"label=\[\] must name different columns, at least one"),
        ({"a": ["x"] * 6}, {"label": ["a", "y"]}, "column 'a' is not numeric: row 0 has 'x'"),
        ({"a": [1, 0, 2, 1, 0, 1]}, {"label": ["a", "y"]}, "column 'a' differs within bag 'b' .row 2 has "),
        ({"a": [1, 0, None, 1, 0, 1]}, {"label": ["a", "y"]}, "column 'a' differs within bag 'b' .row 2 has "),
        (SURVIVAL, {"time": "months"}, "time=months: name one of event=NAME .* and censorship=NAME .1 − event."),
        (SURVIVAL, {"event": "died"}, "event=died needs the column of the time; name it with time=NAME"),
        (SURVIVAL, {"time": "months", "event": "died", "label": "y"}, "leave out time=months, event=died"),
        (SURVIVAL, {"time": "months", "event": "died", "censorship": "y"}, "keep only one of event=NAME"),
        (
            {"months": [3] * 6},
            {"time": "months", "event": "key"},
            "column 'key', row 2: .* is not 0 or 1, true or false, yes or no",
        ),
        ({**SURVIVAL, "months": [0] * 6}, {"time": "months", "event": "died"}, "the time of bag 'b' is 0.0; it must"),
        ({**SURVIVAL, "months": [None] * 6}, {"time": "months", "event": "died"}, "column 'months' is empty in row 0"),
        ({**SURVIVAL, "died": [None] * 6}, {"time": "months", "event": "died"}, "column 'died' is empty in row 0"),
    ],
)
def test_from_frame_names_the_fault_of_several_labels_and_of_survival(columns, options, message):
    with pytest.raises(InputError, match=message):
        Bags.from_frame(make_frame(**columns), bag="id", **options)
