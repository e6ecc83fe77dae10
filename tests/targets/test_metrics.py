"""Decisions and metrics of bags agree with scikit-learn; undefined metrics are None."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference

from bagwise.data.datasets.registry import load_dataset
from bagwise.evaluation.instance_metrics import compute_instance_metrics
from bagwise.targets.classes import ClassTarget
from bagwise.targets.key_metrics import KEY_METRICS
from bagwise.targets.metrics import (
    CLASS_METRICS,
    compute_auc,
    compute_average_precision,
    compute_excess_calibration_error,
    decide_classes,
)


def compute_bag_metrics(targets, probabilities, threshold=0.5):
    return ClassTarget.unnamed(probabilities.shape[1]).compute_metrics(targets, probabilities, threshold)


PROBABILITIES = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])


def test_decide_classes_predicts_the_most_probable_class_and_the_first_of_equal_ones():
    np.testing.assert_array_equal(decide_classes(PROBABILITIES), [0, 0, 1])
    np.testing.assert_array_equal(decide_classes(np.array([[0.2, 0.5, 0.3]])), [1])


def test_decide_classes_applies_the_threshold_to_the_second_of_two_classes():
    np.testing.assert_array_equal(decide_classes(PROBABILITIES, 0.4), [0, 1, 1])
    np.testing.assert_array_equal(decide_classes(PROBABILITIES, 0.05), [1, 1, 1])
    np.testing.assert_array_equal(decide_classes(PROBABILITIES, 0.85), [0, 0, 0])


def test_decide_classes_needs_a_probability_greater_than_the_threshold():
    """A probability equal to the threshold is not enough, neither at the default threshold nor at another one."""
    np.testing.assert_array_equal(decide_classes(np.array([[0.75, 0.25], [0.25, 0.75]]), 0.25), [0, 1])
    np.testing.assert_array_equal(decide_classes(np.array([[0.25, 0.75], [0.125, 0.875]]), 0.75), [0, 1])
    np.testing.assert_array_equal(decide_classes(np.array([[0.5, 0.5]]), 0.5), [0])


def test_decide_classes_accepts_one_threshold_per_bag():
    thresholds = np.array([0.05, 0.5, 0.8])
    np.testing.assert_array_equal(decide_classes(PROBABILITIES, thresholds), [1, 0, 0])


def test_decide_classes_ignores_the_threshold_for_more_than_two_classes():
    np.testing.assert_array_equal(decide_classes(np.array([[0.5, 0.3, 0.2]]), 0.25), [0])


def test_metrics_and_key_metrics_describe_exactly_the_computed_metrics():
    computed = compute_bag_metrics(np.array([0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    assert CLASS_METRICS.keys() == computed.keys()
    bags = load_dataset("needles", n_bags=4)
    assert KEY_METRICS.keys() == compute_instance_metrics(bags, np.zeros(bags.n_instances)).keys() - {"n_bags"}


def sample_predictions(seed, n_classes, n_bags=60, ties=True):
    generator = np.random.default_rng(seed)
    targets = np.concatenate([np.arange(n_classes), generator.integers(n_classes, size=n_bags - n_classes)])
    raw = generator.random((n_bags, n_classes)) + 2 * np.eye(n_classes)[targets] * generator.random((n_bags, 1))
    raw = np.round(raw, 1) + 0.01 if ties else raw
    return targets, raw / raw.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("seed", "ties"), [(0, True), (1, False)])
def test_compute_bag_metrics_of_two_classes_agrees_with_scikit_learn(seed, ties):
    targets, probabilities = sample_predictions(seed, 2, ties=ties)
    computed = compute_bag_metrics(targets, probabilities)
    positive, predicted = probabilities[:, 1], probabilities.argmax(axis=1)
    assert computed["accuracy"] == pytest.approx(reference.accuracy_score(targets, predicted))
    assert computed["precision"] == pytest.approx(reference.precision_score(targets, predicted))
    assert computed["recall"] == pytest.approx(reference.recall_score(targets, predicted))
    assert computed["f_score"] == pytest.approx(reference.f1_score(targets, predicted))
    assert computed["auc"] == pytest.approx(reference.roc_auc_score(targets, positive))
    assert computed["average_precision"] == pytest.approx(reference.average_precision_score(targets, positive))
    assert computed["log_loss"] == pytest.approx(reference.log_loss(targets, probabilities))
    assert computed["brier"] == pytest.approx(reference.brier_score_loss(targets, positive))
    assert computed["balanced_accuracy"] == pytest.approx(reference.balanced_accuracy_score(targets, predicted))


def test_compute_bag_metrics_of_several_classes_agrees_with_the_mean_over_classes_of_scikit_learn():
    targets, probabilities = sample_predictions(0, 4)
    computed = compute_bag_metrics(targets, probabilities)
    predicted = probabilities.argmax(axis=1)
    assert computed["precision"] == pytest.approx(reference.precision_score(targets, predicted, average="macro"))
    assert computed["recall"] == pytest.approx(reference.recall_score(targets, predicted, average="macro"))
    assert computed["f_score"] == pytest.approx(reference.f1_score(targets, predicted, average="macro"))
    assert computed["balanced_accuracy"] == pytest.approx(reference.balanced_accuracy_score(targets, predicted))
    assert computed["auc"] == pytest.approx(reference.roc_auc_score(targets, probabilities, multi_class="ovr"))
    assert computed["log_loss"] == pytest.approx(reference.log_loss(targets, probabilities))


def test_compute_bag_metrics_is_none_for_undefined_metrics():
    computed = compute_bag_metrics(np.array([0, 0]), np.array([[0.9, 0.1], [0.8, 0.2]]))
    assert computed["auc"] is None
    assert computed["average_precision"] is None
    assert computed["precision"] is None
    assert computed["recall"] is None
    assert computed["f_score"] is None
    assert computed["balanced_accuracy"] is None
    assert computed["accuracy"] == 1.0


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=30))
def test_compute_auc_is_the_probability_that_a_positive_is_ranked_above_a_negative(pairs):
    positive = np.array([flag for flag, _ in pairs])
    scores = np.array([score for _, score in pairs], dtype=float)
    wins = [(high > low) + 0.5 * (high == low) for high in scores[positive] for low in scores[~positive]]
    found = compute_auc(positive, scores)
    assert found is None if not wins else found == pytest.approx(np.mean(wins))
    if wins:
        assert compute_average_precision(positive, scores) == pytest.approx(
            reference.average_precision_score(positive, scores)
        )


def test_compute_calibration_error_is_the_gap_between_confidence_and_accuracy():
    """Ten bags are predicted with a confidence of 0.75, and half of them correctly: the gap is 0.25."""
    probabilities = np.tile([0.25, 0.75], (10, 1))
    targets = np.array([0, 1] * 5)
    assert compute_bag_metrics(targets, probabilities)["calibration_error"] == pytest.approx(0.25)
    certain = np.eye(2)[targets]
    assert compute_bag_metrics(targets, certain)["calibration_error"] == 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_compute_excess_calibration_error_of_a_calibrated_model_is_zero_on_average(n_classes):
    generator = np.random.default_rng(0)
    found = []
    for _ in range(200):
        probabilities = generator.dirichlet(np.ones(n_classes), size=50)
        targets = np.array([generator.choice(n_classes, p=row) for row in probabilities])
        found.append(compute_excess_calibration_error(targets, probabilities))
    assert abs(np.mean(found)) < 0.01
    assert min(found) < 0


def test_compute_excess_calibration_error_subtracts_the_error_by_chance():
    """One bag at 0.9: the error is 0.1 if it is correct (90 %), else 0.9; the mean by chance is 0.18."""
    probabilities = np.array([[0.1, 0.9]])
    for target, error in ((1, 0.1), (0, 0.9)):
        found = compute_excess_calibration_error(np.array([target]), probabilities, n_draws=20_000)
        assert found == pytest.approx(error - 0.18, abs=0.01)


def test_compute_excess_calibration_error_finds_overconfidence_and_is_reproducible():
    probabilities = np.tile([0.05, 0.95], (100, 1))
    targets = np.arange(100) % 2
    found = compute_excess_calibration_error(targets, probabilities)
    assert 0.4 < found < 0.45
    assert found == compute_excess_calibration_error(targets, probabilities)


def test_log_loss_is_finite_if_the_true_class_has_probability_zero():
    assert np.isfinite(compute_bag_metrics(np.array([0, 1]), np.array([[0.0, 1.0], [1.0, 0.0]]))["log_loss"])


def test_compute_bag_metrics_of_one_class_has_no_auc_and_without_positives_no_recall():
    probabilities = np.array([[0.3, 0.7], [0.6, 0.4]])
    all_positive, all_negative = (compute_bag_metrics(np.full(2, label), probabilities) for label in (1, 0))
    assert (all_positive["auc"], all_positive["average_precision"]) == (None, None)
    assert (all_negative["auc"], all_negative["average_precision"], all_negative["f_score"]) == (None, None, None)
    assert all_negative["recall"] is None


def test_compute_bag_metrics_uses_the_threshold():
    probabilities = np.array([[0.7, 0.3], [0.9, 0.1], [0.4, 0.6]])
    found = compute_bag_metrics(np.array([1, 0, 1]), probabilities, 0.2)
    assert (found["accuracy"], found["recall"]) == (1.0, 1.0)
    assert compute_bag_metrics(np.array([1, 0, 1]), probabilities)["recall"] == 0.5
