"""The ROC curve: its corners are those of an independent computation, and it is drawn as given."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from bagwise.figures import draw_roc, roc_points

POSITIVE, SCORES = np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])


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


def test_roc_draws_each_curve_under_its_label(axes):
    curves = [("one", roc_points(POSITIVE, SCORES)), ("two", roc_points(POSITIVE, -SCORES))]
    assert draw_roc(axes, curves) is axes
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    for label, points in curves:
        np.testing.assert_array_equal(lines[label], np.column_stack(points))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
