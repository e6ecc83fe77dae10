"""Curves, calibration bins and confusion matrices agree with scikit-learn or a direct computation."""

import numpy as np
import pytest
from sklearn.metrics import (
    auc,
    average_precision_score,
    confusion_matrix,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from bagwise.targets.curves import compute_calibration, compute_precision_recall, compute_roc, count_confusions
from bagwise.targets.metrics import compute_calibration_error


@pytest.fixture(params=["distinct", "tied"])
def labelled_scores(request):
    """Labels and scores; rounded scores have ties."""
    generator = np.random.default_rng(0)
    positive = generator.random(60) < 0.4
    return positive, np.round(generator.random(60) + 0.3 * positive, 1 if request.param == "tied" else 12)


def test_compute_roc_agrees_with_scikit_learn(labelled_scores):
    positive, scores = labelled_scores
    false_positive_rate, true_positive_rate, _ = roc_curve(positive, scores)
    points = compute_roc(positive, scores)
    np.testing.assert_allclose(points.false_positive_rate, false_positive_rate)
    np.testing.assert_allclose(points.true_positive_rate, true_positive_rate)
    area = auc(points.false_positive_rate, points.true_positive_rate)
    assert area == pytest.approx(roc_auc_score(positive, scores))


@pytest.mark.parametrize("positive", [True, False])
def test_compute_roc_is_none_for_one_class(positive):
    assert compute_roc(np.full(3, positive), np.arange(3.0)) is None


def test_compute_precision_recall_agrees_with_scikit_learn(labelled_scores):
    positive, scores = labelled_scores
    precision, recall, _ = precision_recall_curve(positive, scores)
    points = compute_precision_recall(positive, scores)
    np.testing.assert_allclose(points.precision, precision)
    np.testing.assert_allclose(points.recall, recall)
    area = -(np.diff(points.recall) * points.precision[:-1]).sum()
    assert area == pytest.approx(average_precision_score(positive, scores))
    assert points.precision[0] == pytest.approx(positive.mean())


def test_compute_precision_recall_is_none_without_positives():
    assert compute_precision_recall(np.zeros(3, dtype=bool), np.arange(3.0)) is None


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_compute_calibration_agrees_with_a_direct_count(n_classes):
    generator = np.random.default_rng(n_classes)
    probabilities = generator.dirichlet(np.ones(n_classes), 200)
    probabilities[0] = np.eye(n_classes)[0]  # a confidence of exactly one belongs to the last bin
    targets = generator.integers(n_classes, size=200)
    bins = compute_calibration(targets, probabilities, 10)
    confidence, is_correct = probabilities.max(axis=1), probabilities.argmax(axis=1) == targets
    index = 0
    for low in range(10):
        in_bin = (confidence >= low / 10) & ((confidence < (low + 1) / 10) | (low == 9))
        if in_bin.any():
            assert bins.n_bags[index] == in_bin.sum()
            assert bins.confidence[index] == pytest.approx(confidence[in_bin].mean())
            assert bins.accuracy[index] == pytest.approx(is_correct[in_bin].mean())
            index += 1
    assert index == len(bins.n_bags)
    gap = (np.abs(bins.confidence - bins.accuracy) * bins.n_bags).sum() / bins.n_bags.sum()
    assert gap == pytest.approx(compute_calibration_error(targets, probabilities))


def test_count_confusions_agrees_with_scikit_learn():
    generator = np.random.default_rng(0)
    targets, predicted = generator.integers(4, size=(2, 80))
    assert (count_confusions(targets, predicted, 4) == confusion_matrix(targets, predicted)).all()


def test_count_confusions_keeps_the_row_and_column_of_a_class_that_never_occurs():
    assert count_confusions(np.array([0, 2]), np.array([2, 2]), 3).tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 1]]
