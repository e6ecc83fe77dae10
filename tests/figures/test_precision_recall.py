"""The precision-recall curve: its points are those of an independent computation, and it is drawn in steps."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve

from bagwise.figures import draw_precision_recall, precision_recall_points

POSITIVE, SCORES = np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])


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


def test_precision_recall_draws_steps_and_the_share_of_positives(axes):
    points = precision_recall_points(POSITIVE, SCORES)
    draw_precision_recall(axes, [("bags", points)])
    curve, baseline = axes.lines
    np.testing.assert_array_equal(curve.get_xydata(), np.column_stack(points))
    assert curve.get_drawstyle() == "steps-post"
    assert set(baseline.get_ydata()) == {0.5}
