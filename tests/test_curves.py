"""Curves, bins and counts are those of an independent computation."""

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from bagwise.curves import calibration_bins, count_confusions, precision_recall_points, roc_points
from bagwise.evaluation.bag_metrics import calibration_error


@pytest.fixture(params=product(range(5), ["distinct", "tied"]), ids=lambda case: f"{case[1]}-{case[0]}")
def labelled_scores(request):
    """Labels and scores; few distinct scores make ties."""
    seed, scores = request.param
    generator = np.random.default_rng(seed)
    positive = generator.random(60) < 0.4
    return positive, np.round(generator.random(60) + 0.3 * positive, 1 if scores == "tied" else 12)


def test_roc_points_are_those_of_scikit_learn(labelled_scores):
    positive, scores = labelled_scores
    false_positive_rate, true_positive_rate, _ = roc_curve(positive, scores)
    points = roc_points(positive, scores)
    np.testing.assert_allclose(points.false_positive_rate, false_positive_rate)
    np.testing.assert_allclose(points.true_positive_rate, true_positive_rate)
    area = np.trapezoid(points.true_positive_rate, points.false_positive_rate)
    assert area == pytest.approx(roc_auc_score(positive, scores))


@pytest.mark.parametrize("positive", [True, False])
def test_one_class_alone_has_no_roc_curve(positive):
    assert roc_points(np.full(3, positive), np.arange(3.0)) is None


def test_precision_recall_points_are_those_of_scikit_learn(labelled_scores):
    positive, scores = labelled_scores
    precision, recall, _ = precision_recall_curve(positive, scores)
    points = precision_recall_points(positive, scores)
    np.testing.assert_allclose(points.precision, precision)
    np.testing.assert_allclose(points.recall, recall)
    area = -(np.diff(points.recall) * points.precision[:-1]).sum()
    assert area == pytest.approx(average_precision_score(positive, scores))
    assert points.precision[0] == pytest.approx(positive.mean())


def test_without_positives_there_is_no_precision_recall_curve():
    assert precision_recall_points(np.zeros(3, dtype=bool), np.arange(3.0)) is None


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_calibration_bins_are_those_of_a_direct_count(n_classes):
    generator = np.random.default_rng(n_classes)
    probabilities = generator.dirichlet(np.ones(n_classes), 200)
    probabilities[0] = np.eye(n_classes)[0]  # a confidence of just one belongs to the last bin
    targets = generator.integers(n_classes, size=200)
    bins = calibration_bins(targets, probabilities, 10)
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == targets
    place = 0
    for low in range(10):
        held = (confidence >= low / 10) & ((confidence < (low + 1) / 10) | (low == 9))
        if held.any():
            assert bins.n_bags[place] == held.sum()
            assert bins.confidence[place] == pytest.approx(confidence[held].mean())
            assert bins.share_right[place] == pytest.approx(right[held].mean())
            place += 1
    assert place == len(bins.n_bags)
    gap = (np.abs(bins.confidence - bins.share_right) * bins.n_bags).sum() / bins.n_bags.sum()
    assert gap == pytest.approx(calibration_error(targets, probabilities))


def test_confusions_are_those_of_scikit_learn():
    generator = np.random.default_rng(0)
    targets, predicted = generator.integers(4, size=(2, 80))
    assert (count_confusions(targets, predicted, 4) == confusion_matrix(targets, predicted)).all()


def test_a_class_that_never_occurs_keeps_its_row_and_column():
    assert count_confusions(np.array([0, 2]), np.array([2, 2]), 3).tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 1]]
