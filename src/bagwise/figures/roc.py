"""The ROC curve: hits against false alarms, at every threshold."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from bagwise.figures.style import FAINT, MOST_IN_LEGEND, legend, line_style, unit_square


class RocPoints(NamedTuple):
    """Corners of the curve, from (0, 0) to (1, 1)."""

    false_positive_rate: np.ndarray
    true_positive_rate: np.ndarray


def roc_points(positive: np.ndarray, scores: np.ndarray) -> RocPoints | None:
    """The corners of the curve, equal scores taken together; None where one of the two kinds is missing.

    >>> roc_points(np.array([True, False]), np.array([0.9, 0.1])).true_positive_rate
    array([0., 1., 1.])
    """
    if positive.all() or not positive.any():
        return None
    thresholds, inverse = np.unique(-scores, return_inverse=True)
    hits = _running(inverse, positive, len(thresholds))
    alarms = _running(inverse, ~positive, len(thresholds))
    bends = np.diff(hits, 2).astype(bool) | np.diff(alarms, 2).astype(bool)
    corners = np.concatenate([[True], bends, [True]])  # points within a straight line say nothing
    corners[1] = True  # but the highest threshold is kept, as scikit-learn does
    return RocPoints(alarms[corners] / alarms[-1], hits[corners] / hits[-1])


def _running(inverse: np.ndarray, chosen: np.ndarray, length: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(inverse, weights=chosen, minlength=length))])


def draw_roc(axes: Axes, curves: Sequence[tuple[str, RocPoints]]) -> Axes:
    """Draw curves with their labels, and the diagonal of chance."""
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=(0, (4, 4)))
    for number, (label, points) in enumerate(curves):
        axes.plot(*points, label=label, solid_joinstyle="miter", clip_on=False, **line_style(number))
    if len(curves) == 1:
        axes.fill_between(*points, color=line_style(0)["color"], alpha=0.12, linewidth=0)
    elif len(curves) <= MOST_IN_LEGEND:
        legend(axes, loc="lower right")
    unit_square(axes, "false positive rate", "true positive rate")
    return axes
