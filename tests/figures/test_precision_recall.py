"""The precision-recall curve: it is drawn in steps."""

import numpy as np

from bagwise.curves import precision_recall_points
from bagwise.figures import draw_precision_recall

POSITIVE, SCORES = np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])


def test_precision_recall_draws_steps_and_the_share_of_positives(axes):
    points = precision_recall_points(POSITIVE, SCORES)
    draw_precision_recall(axes, [("bags", points)])
    curve, baseline = axes.lines
    np.testing.assert_array_equal(curve.get_xydata(), np.column_stack(points))
    assert curve.get_drawstyle() == "steps-post"
    assert set(baseline.get_ydata()) == {0.5}
