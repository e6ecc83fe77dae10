import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.bags.labels import split_labels
from bagwise.evaluation.evaluation import group_predictions
from bagwise.io.csv_files import read_csv, write_csv
from bagwise.runs.predictions import (
    format_label,
    has_label,
    make_empty_rows,
    make_group_rows,
    make_prediction_rows,
    make_training_rows,
    make_weight_rows,
    read_label,
)
from bagwise.targets.classes import ClassTarget
from label_kinds import LABELS

TARGET = ClassTarget(np.array(["no", "yes"]))
BAGS = Bags.from_list(
    [np.zeros((1, 2)), np.zeros((2, 2))],
    labels=["no", "yes"],
    names=["a", "b"],
    groups=[7, 8],
    positions=[[1, 2], [3, 4], [5, 6]],
)


def test_make_prediction_rows_keeps_every_digit():
    probabilities = np.array([[2 / 3, 1 / 3], [0.1, 0.9]])
    rows = list(make_prediction_rows(TARGET, BAGS, probabilities, BAGS.labels))
    assert rows[0] == {
        "bag": "a",
        "status": "predicted",
        "n_instances": 1,
        "group": 7,
        "label": "no",
        "predicted": "no",
        "probability no": repr(2 / 3),
        "probability yes": repr(1 / 3),
    }
    assert float(rows[0]["probability yes"]) == 1 / 3


def test_make_prediction_rows_leaves_out_missing_labels_and_groups():
    bags = BAGS.replace(labels=None, groups=None)
    rows = list(make_prediction_rows(ClassTarget.unnamed(2), bags, np.full((2, 2), 0.5), None))
    assert list(rows[0]) == ["bag", "status", "n_instances", "predicted", "probability 0", "probability 1"]


def test_make_prediction_rows_marks_outputs_that_are_not_finite_as_failed():
    probabilities = np.array([[np.nan, np.nan], [0.1, 0.9]])
    failed, predicted = make_prediction_rows(TARGET, BAGS, probabilities, None)
    assert failed.keys() == predicted.keys()
    assert (failed["bag"], failed["status"], failed["predicted"], failed["probability yes"]) == ("a", "failed", "", "")
    assert failed["reason"] == "probability no is nan; probability yes is nan"
    assert (predicted["status"], predicted["predicted"], predicted["reason"]) == ("predicted", "yes", "")


def test_make_group_rows_has_no_prediction_for_a_group_with_a_failed_bag():
    outputs = np.array([[0.5, 0.5], [np.inf, 0.9], [0.2, 0.8]])
    rows = make_group_rows(TARGET, group_predictions(None, outputs, np.array(["p", "p", "q"])))
    assert [(row["group"], row["predicted"], row["reason"]) for row in rows] == [
        ("p", "", "probability no is inf"),
        ("q", "yes", ""),
    ]


def test_make_weight_rows_leaves_out_bags_whose_weights_are_not_finite():
    rows = list(make_weight_rows(BAGS, np.array([np.nan, 0.25, 0.75])))
    assert [(row["bag"], row["weight"]) for row in rows] == [("b", "0.25"), ("b", "0.75")]


def test_make_empty_rows_has_no_probabilities():
    assert make_empty_rows(["a"]) == [{"bag": "a", "status": "empty", "n_instances": 0}]


def test_make_group_rows_has_the_mean_of_the_bags():
    probabilities = np.array([[0.5, 0.5], [0.9, 0.1], [0.1, 0.9]])
    grouped = group_predictions(np.array([1, 0, 1]), probabilities, np.array(["p", "q", "p"]))
    rows = make_group_rows(TARGET, grouped)
    assert [(row["group"], row["n_bags"], row["label"], row["predicted"]) for row in rows] == [
        ("p", 2, "yes", "yes"),
        ("q", 1, "no", "no"),
    ]
    assert float(rows[0]["probability yes"]) == 0.7


def test_make_group_rows_leaves_out_missing_labels():
    grouped = group_predictions(None, np.array([[0.5, 0.5], [0.2, 0.8]]), np.array(["p", "q"]))
    rows = make_group_rows(TARGET, grouped, 0.9)
    assert [row["predicted"] for row in rows] == ["no", "no"]
    assert "label" not in rows[0]


def test_make_weight_rows_counts_instances_within_their_bag():
    rows = list(make_weight_rows(BAGS, np.array([1.0, 0.25, 0.75])))
    assert [(row["bag"], row["instance"], row["x"], row["y"], row["weight"]) for row in rows] == [
        ("a", 0, 1, 2, "1.0"),
        ("b", 0, 3, 4, "0.25"),
        ("b", 1, 5, 6, "0.75"),
    ]


def test_make_training_rows_has_use_and_group():
    bags = Bags.from_list([[[1.0]], [[2.0]]], names=["a", "b"])
    assert [*make_training_rows(bags, "training")] == [
        {"bag": "a", "use": "training"},
        {"bag": "b", "use": "training"},
    ]
    grouped = bags.replace(groups=np.array(["p", "q"]))
    assert [row["group"] for row in make_training_rows(grouped, "validation")] == ["p", "q"]


@pytest.mark.parametrize("kind", LABELS)
def test_read_label_reads_what_make_prediction_rows_wrote(kind, tmp_path):
    bags = Bags.from_list([np.zeros((1, 2))] * 3, **LABELS[kind](3))
    write_csv(tmp_path / "p.csv", make_prediction_rows(ClassTarget.unnamed(2), bags, np.full((3, 2), 0.5), bags.labels))
    columns = split_labels(bags.labels, bags.label_names)
    for row, cells in zip(read_csv(tmp_path / "p.csv"), zip(*columns.values(), strict=True), strict=True):
        assert [*row][3 : 3 + len(columns)] == [*columns]
        found = read_label(row)
        assert ([found] if isinstance(found, str) else [*found]) == [str(cell) for cell in cells]
        assert has_label(row)
        assert has_label(row, "predicted")
        assert "nan" not in format_label(row)


def test_read_label_of_a_row_without_a_label():
    row = {"bag": "a", "predicted x": "1", "predicted y": ""}
    assert not has_label(row)
    assert not has_label({"time": "1.0"})
    assert (read_label(row, "predicted"), format_label(row, "predicted")) == (("1", "nan"), "x: 1, y: unknown")
