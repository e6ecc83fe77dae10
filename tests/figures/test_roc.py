"""The ROC curve: it is drawn as given."""

import numpy as np

from bagwise.curves import roc_points
from bagwise.figures import draw_roc

POSITIVE, SCORES = np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])


def test_roc_draws_each_curve_under_its_label(axes):
    curves = [("one", roc_points(POSITIVE, SCORES)), ("two", roc_points(POSITIVE, -SCORES))]
    assert draw_roc(axes, curves) is axes
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    for label, points in curves:
        np.testing.assert_array_equal(lines[label], np.column_stack(points))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
