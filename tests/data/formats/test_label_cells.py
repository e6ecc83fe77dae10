"""Cells of labels are checked by file, row and column, and read as the labels of bags."""

import numpy as np
import pytest

from bagwise.data.formats.label_cells import build_labels, read_label_cell
from bagwise.errors import InputError


@pytest.mark.parametrize(
    ("role", "cell", "text"),
    [
        ("label a", " 1 ", "1.0"),
        ("label a", "1e-3", "0.001"),
        ("label a", 0.1, "0.1"),
        ("label a", True, "1.0"),
        ("label a", "FALSE", "0.0"),
        *(("label a", cell, "nan") for cell in ("", " ", "NaN", "NA", None, float("nan"))),
        ("time", "12", "12.0"),
        ("event", " Yes", "True"),
        ("event", 0, "False"),
        ("censorship", "1", "True"),
        ("label", " yes ", " yes "),
        ("group", 7, 7),
    ],
)
def test_read_label_cell_returns_equal_texts_for_equal_values(role, cell, text):
    assert read_label_cell(role, cell, "line 2") == text


@pytest.mark.parametrize(
    ("role", "cell", "message"),
    [
        ("label a", "yes", "line 2 is not a number: 'yes'; encode it as a number"),
        ("label a", "inf", "line 2 is 'inf'; numbers must be finite"),
        ("time", "0", "line 2 is '0'; a time must be a number > 0"),
        ("time", "-1", "line 2 is '-1'; a time must be a number > 0"),
        ("time", "", "line 2 is empty or NaN"),
        ("time", "soon", "line 2 is not a number: 'soon'"),
        ("event", "2", "line 2: '2' is not 0 or 1, true or false, yes or no; encode the column as 0 and 1"),
        ("event", "dead", "line 2: 'dead' is not 0 or 1"),
        ("event", "", "line 2 is empty"),
        ("censorship", None, "line 2 is empty"),
    ],
)
def test_read_label_cell_names_the_place_of_an_invalid_cell(role, cell, message):
    with pytest.raises(InputError, match=message):
        read_label_cell(role, cell, "line 2")


def test_build_labels_keeps_whole_numbers_if_no_label_is_unknown():
    labels, names = build_labels({"bag": ["x"], "label b": ["1.0", "0.0"], "label a": ["3.0", "2.0"]})
    assert (labels.dtype.kind, labels.tolist(), names) == ("i", [[1, 3], [0, 2]], ["b", "a"])
    assert build_labels({"label a": ["1.0", "nan"]})[0].dtype.kind == "f"
    assert build_labels({"label a": ["0.5", "1.0"]})[0].dtype.kind == "f"
    assert build_labels({"label": ["yes", "1"]})[0].tolist() == ["yes", "1"]
    assert build_labels({"group": ["p"]}) == (None, None)


@pytest.mark.parametrize(("role", "texts"), [("event", ["True", "False"]), ("censorship", ["False", "True"])])
def test_build_labels_of_time_and_event(role, texts):
    labels, names = build_labels({"time": ["1.5", "3.0"], role: texts})
    np.testing.assert_array_equal(labels["event"], [True, False])
    assert (labels["time"].tolist(), names) == ([1.5, 3.0], None)
