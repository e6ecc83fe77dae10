import numpy as np

from bagwise.bags import Bags
from bagwise.evaluation.grouping import by_group
from bagwise.runs import prediction_rows, weight_rows
from bagwise.runs.rows import empty_rows, group_rows, training_rows

BAGS = Bags.from_list(
    [np.zeros((1, 2)), np.zeros((2, 2))],
    labels=["no", "yes"],
    names=["a", "b"],
    groups=[7, 8],
    positions=[[1, 2], [3, 4], [5, 6]],
)


def test_a_line_a_bag_keeps_every_digit():
    probabilities = np.array([[2 / 3, 1 / 3], [0.1, 0.9]])
    rows = list(prediction_rows(np.array(["no", "yes"]), BAGS, probabilities, BAGS.labels))
    assert rows[0] == {
        "bag": "a",
        "status": "judged",
        "n_instances": 1,
        "group": 7,
        "label": "no",
        "predicted": "no",
        "probability no": repr(2 / 3),
        "probability yes": repr(1 / 3),
    }
    assert float(rows[0]["probability yes"]) == 1 / 3


def test_without_labels_and_groups_their_columns_are_left_out():
    rows = list(prediction_rows(np.array([0, 1]), BAGS.replace(labels=None, groups=None), np.full((2, 2), 0.5), None))
    assert list(rows[0]) == ["bag", "status", "n_instances", "predicted", "probability 0", "probability 1"]


def test_a_line_an_instance_counts_within_its_bag():
    rows = list(weight_rows(BAGS, np.array([1.0, 0.25, 0.75])))
    assert [(row["bag"], row["instance"], row["x"], row["y"], row["weight"]) for row in rows] == [
        ("a", 0, 1, 2, "1.0"),
        ("b", 0, 3, 4, "0.25"),
        ("b", 1, 5, 6, "0.75"),
    ]


def test_a_line_a_group_holds_the_mean_of_its_bags():
    groups = np.array(["p", "q", "p"])
    chances = np.array([[0.5, 0.5], [0.9, 0.1], [0.1, 0.9]])
    grouped = by_group(np.array([1, 0, 1]), chances, groups)
    rows = group_rows(np.array(["no", "yes"]), grouped)
    assert [(row["group"], row["n_bags"], row["label"], row["predicted"]) for row in rows] == [
        ("p", 2, "yes", "yes"),
        ("q", 1, "no", "no"),
    ]
    assert float(rows[0]["probability yes"]) == 0.7


def test_groups_without_labels_have_lines_without_them():
    grouped = by_group(None, np.array([[0.5, 0.5], [0.2, 0.8]]), np.array(["p", "q"]))
    rows = group_rows(np.array(["no", "yes"]), grouped, 0.9)
    assert [row["predicted"] for row in rows] == ["no", "no"]
    assert "label" not in rows[0]


def test_a_bag_without_instances_has_a_line():
    assert empty_rows(["a"]) == [{"bag": "a", "status": "empty", "n_instances": 0}]


def test_a_line_a_bag_says_what_it_was_used_for():
    named = Bags.from_list([[[1.0]], [[2.0]]], names=["a", "b"])
    grouped = named.replace(groups=np.array(["p", "q"]))
    assert [*training_rows(named, "training")] == [{"bag": "a", "use": "training"}, {"bag": "b", "use": "training"}]
    assert [row["group"] for row in training_rows(grouped, "validation")] == ["p", "q"]
