"""Labels of bags as columns: the forms in which they are given, kept and written."""

import numpy as np
import pandas as pd
import pytest

from bagwise.bags.bags import Bags
from bagwise.bags.labels import choose_label_columns, parse_event, split_labels
from bagwise.errors import InputError
from label_kinds import LABELS


def make_bags(**metadata):
    return Bags.from_list([[[0.0]], [[1.0]]], **metadata)


@pytest.mark.parametrize(("time", "names"), [([1, 2], ("time", "event")), (np.float32([1, 2]), ("event", "time"))])
def test_labels_of_survival_have_the_fields_event_and_time_in_this_order(time, names):
    values = {"time": time, "event": [True, False]}
    columns = [np.asarray(values[name]) for name in names]
    dtype = [(name, column.dtype) for name, column in zip(names, columns, strict=True)]
    labels = np.array([*zip(*columns, strict=True)], dtype=dtype)
    found = make_bags(labels=labels).labels
    assert found.dtype == np.dtype([("event", bool), ("time", float)])
    assert found.tolist() == [(True, 1.0), (False, 2.0)]


def test_missing_values_among_several_labels_become_nan():
    for missing in (None, float("nan"), pd.NA):
        found = make_bags(labels=np.array([[1, missing], [0, 2.5]], dtype=object)).labels
        np.testing.assert_array_equal(found, [[1, np.nan], [0, 2.5]])
    assert make_bags(labels=np.array([[True, False]] * 2, dtype=object)).labels.dtype == bool
    assert make_bags(labels=np.array([[1, 2]] * 2, dtype=object)).labels.dtype == np.int64


@pytest.mark.parametrize(
    ("names", "labels", "message"),
    [
        (["a"], [[1, 2]] * 2, "there are 1 label_names for 2 columns of labels"),
        (["a", "a"], [[1, 2]] * 2, "the label name 'a' occurs more than once; rename"),
        ("ab", [[1, 2]] * 2, "label_names must be a sequence of strings"),
        ([1, 2], [[1, 2]] * 2, "label_names must be a sequence of strings"),
        (["", "a"], [[1, 2]] * 2, "label_names must be a sequence of strings"),
        (7, [[1, 2]] * 2, "label_names must be a sequence of strings"),
        (["a"], [1, 2], r"label_names are for labels of shape \(n_bags, k\), but labels are of shape \(2,\); leave"),
        (["a"], None, "but labels are None; leave them out"),
    ],
)
def test_check_label_names_rejects_names_that_do_not_fit_the_labels(names, labels, message):
    with pytest.raises(InputError, match=message):
        make_bags(labels=labels, label_names=names)


@pytest.mark.parametrize("kind", LABELS)
def test_split_labels_has_one_column_per_label_with_all_values(kind):
    labels = LABELS[kind](3)["labels"]
    columns = split_labels(labels, LABELS[kind](3).get("label_names"))
    width = 2 if labels.dtype.names else labels[0].size
    assert len(columns) == width
    assert all(values.shape == (3,) for values in columns.values())
    if labels.ndim == 2:
        np.testing.assert_array_equal(np.stack([*columns.values()], axis=1), labels)


@pytest.mark.parametrize("value", [2, -1, 0.5, "", "2", "maybe", None, float("nan"), "1.0"])
def test_parse_event_rejects_what_is_neither_yes_nor_no(value):
    with pytest.raises(ValueError, match="is not 0 or 1, true or false, yes or no"):
        parse_event(value)


def test_parse_event_accepts_the_usual_spellings():
    for value in (True, np.True_, 1, 1.0, np.int8(1), np.float32(1), "1", "true", "TRUE", "yes", " Yes "):
        assert parse_event(value) is True
    for value in (False, np.False_, 0, 0.0, "0", "False", "no", "NO"):
        assert parse_event(value) is False


def test_choose_label_columns_shows_options_in_the_form_of_the_caller():
    with pytest.raises(InputError, match="--data-option time=months: name one of --data-option event=NAME"):
        choose_label_columns(None, "months", None, None, "--data-option {}={}".format)
