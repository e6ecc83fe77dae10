"""The target of classes: encoding, the positive class, decisions, saving."""

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.targets.classes import ClassTarget, check_labels, weigh_classes

WORDS = np.array(["no", "yes"])


def test_learn_and_encode_give_sorted_classes_and_class_numbers():
    target = ClassTarget.learn(["yes", "no", "yes"], 3)
    assert (target.classes.tolist(), target.encode(["yes", "no", "yes"], 3).tolist()) == (["no", "yes"], [1, 0, 1])
    assert target.decode(np.array([1, 0])).tolist() == ["yes", "no"]
    assert target.encode_names(["yes", "no"]).tolist() == [1, 0]
    assert target.encode_names(["yes", "no"]).tolist() == [1, 0]
    with pytest.raises(ValueError, match="maybe"):
        target.encode_names(["maybe"])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5, 1.5, 2.5], "continuous numbers, as for regression, which is not supported; .*numpy.digitize"),
        ([1, "one", None], "y does not contain class labels"),
        (
            np.zeros((3, 2)),
            "y has 2 columns, but classes need one label per bag; choose one column with --data-option "
            "label=NAME, or another kind of target with --target .kinds: .*classes",
        ),
        (np.zeros(3, dtype=[("event", bool), ("time", float)]), "y has the fields event, time, but classes need one"),
        (np.zeros((3, 2, 1)), "y must contain one label per bag"),
        ([[1], [1, 2], [3]], "y must contain one label per bag"),
        ([1, 1, 1], "one class only"),
    ],
    ids=["fractions", "mixed types", "two columns", "survival", "three axes", "ragged", "one class"],
)
def test_learn_rejects_values_that_are_not_class_labels(y, message):
    with pytest.raises(InputError, match=message):
        ClassTarget.learn(y, 3)


def test_encode_accepts_equal_labels_of_another_type():
    target = ClassTarget(np.array([0, 1]))
    assert target.encode([1.0, 0.0], 2).tolist() == [1, 0]
    assert target.encode([True, False], 2).tolist() == [1, 0]


def test_encode_rejects_unknown_labels_and_wrong_counts():
    target = ClassTarget(np.array([0, 1]))
    with pytest.raises(InputError, match="labels '1' are unknown to the model, which was trained on: 0, 1"):
        target.encode(["1"], 1)
    with pytest.raises(InputError, match="y has 1 labels for 2 bags"):
        target.encode([1], 2)
    with pytest.raises(InputError, match="y has 1 labels for 2 bags"):
        check_labels([1], 2)


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (["active", "inactive"], "active"),
        (["Positive", "Negative"], "Positive"),
        (["tumour", "normal"], "tumour"),
        (["tumor", "normal"], "tumor"),
        (["yes", "no"], "yes"),
        ([True, False], "True"),
        ([0, 1], "1"),
        (["benign", "malignant"], "malignant"),
        (["a", "b", "c"], "c"),
    ],
)
def test_positive_class_is_the_obvious_one_of_common_pairs_and_else_the_last(labels, positive):
    target = ClassTarget.learn(labels, len(labels))
    assert target.names[target.positive] == positive


def test_positive_class_can_be_chosen_and_decides_which_metrics_are_computed():
    target = ClassTarget(WORDS, positive="no")
    targets, probabilities = np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    assert target.compute_metrics(targets, probabilities, 0.5)["recall"] == 0.5
    assert target.compute_metrics(targets, probabilities, 0.5)["precision"] == 1
    assert ClassTarget(WORDS).compute_metrics(targets, probabilities, 0.5)["recall"] == 1
    with pytest.raises(InputError, match="positive='maybe' is not a class; choose 'no' or 'yes'"):
        ClassTarget(WORDS, positive="maybe")
    with pytest.raises(InputError, match="only one of two classes"):
        ClassTarget(np.arange(3), positive=1)


def test_weigh_bags_balances_the_classes_and_keeps_the_mean_at_one():
    targets = np.array([0, 1, 1, 1])
    weights = ClassTarget(WORDS).weigh_bags(targets, "balanced", targets)
    assert weights[targets == 1].sum() == pytest.approx(weights[targets == 0].sum())
    assert weights.mean() == pytest.approx(1.0)


def test_weigh_bags_accepts_factors_and_rejects_other_values_by_name():
    targets, target = np.array([0, 1]), ClassTarget(WORDS)
    assert target.weigh_bags(targets, {"no": 1.0, "yes": 3.0}, targets).tolist() == [1.0, 3.0]
    for wrong in ("heavy", 3):
        with pytest.raises(InputError, match=r"class_weight: .*; it must be None, 'balanced', or a dict"):
            target.weigh_bags(targets, wrong, targets)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weigh_classes_rejects_a_negative_or_non_finite_weight_and_names_its_class(weight):
    with pytest.raises(InputError, match=rf"the class_weight of 'yes' is {weight:g}; it must be a finite number"):
        weigh_classes({"yes": weight}, np.array(["no", "yes"]), np.array(["no", "yes"]))


def test_weigh_classes_rejects_weights_that_are_all_zero():
    with pytest.raises(InputError, match="class_weight is 0 for every class"):
        weigh_classes({"no": 0, "yes": 0}, np.array(["no", "yes"]), np.array(["no", "yes"]))
    assert weigh_classes({"no": 0}, np.array(["no", "yes"]), np.array(["no", "yes"])).tolist() == [0, 1]
