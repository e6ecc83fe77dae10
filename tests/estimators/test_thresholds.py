import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.estimators.thresholds import check_threshold, learn_threshold, restore_threshold
from bagwise.targets.classes import ClassTarget

TWO_CLASSES = ClassTarget.unnamed(2)
TARGETS = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
POSITIVE = np.array([0.01, 0.1, 0.35, 0.04, 0.3, 0.45, 0.6, 0.99, 0.41, 0.97])


def make_outputs(positive):
    return np.stack([1 - positive, positive], axis=1)


def test_learn_threshold_finds_the_maximum_of_recall_plus_specificity():
    found = learn_threshold(TWO_CLASSES, make_outputs(POSITIVE), TARGETS)

    def compute_quality(threshold):
        predicted = threshold < POSITIVE
        return predicted[TARGETS == 1].mean() + (~predicted)[TARGETS == 0].mean()

    best = max(compute_quality(threshold) for threshold in np.linspace(0, 1, 1001))
    assert compute_quality(found) == pytest.approx(best)


def test_learn_threshold_refers_to_the_positive_class():
    found = learn_threshold(ClassTarget(np.array(["a", "b"]), "a"), make_outputs(POSITIVE)[:, ::-1], 1 - TARGETS)
    assert found == learn_threshold(TWO_CLASSES, make_outputs(POSITIVE), TARGETS)


def test_learn_threshold_chooses_the_best_threshold_nearest_to_one_half():
    outputs = make_outputs(np.array([0.1, 0.2, 0.8, 0.9]))
    assert learn_threshold(TWO_CLASSES, outputs, np.array([0, 0, 1, 1])) == 0.5


@pytest.mark.parametrize("targets", [np.zeros(10, int), np.ones(10, int)], ids=["negative", "positive"])
def test_learn_threshold_keeps_one_half_if_there_is_only_one_class(targets):
    assert learn_threshold(TWO_CLASSES, make_outputs(POSITIVE), targets) == 0.5


def test_learn_threshold_keeps_one_half_if_all_probabilities_are_equal():
    assert learn_threshold(TWO_CLASSES, make_outputs(np.full(10, 0.9)), TARGETS) == 0.5


def test_check_threshold_rejects_more_than_two_classes():
    check_threshold(TWO_CLASSES)
    with pytest.raises(InputError, match="a threshold decides between two classes, but y has the classes 0, 1, 2"):
        check_threshold(ClassTarget.unnamed(3))


@pytest.mark.parametrize("value", [None, "0.5", -1.0, float("nan"), [1.0]])
def test_restore_threshold_rejects_invalid_values_by_name(value):
    with pytest.raises(InputError, match="threshold is"):
        restore_threshold(value)
