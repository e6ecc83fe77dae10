"""The precision-recall curve: how pure the alarms are, against how many positives they find."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from bagwise.figures.style import FAINT, MOST_IN_LEGEND, legend, line_style, unit_square


class PrecisionRecallPoints(NamedTuple):
    """Points from the lowest threshold (everything an alarm) to the highest, then precision 1 at recall 0."""

    recall: np.ndarray
    precision: np.ndarray


def precision_recall_points(positive: np.ndarray, scores: np.ndarray) -> PrecisionRecallPoints | None:
    """Precision and recall at each distinct score; None without positives.

    >>> precision_recall_points(np.array([True, False]), np.array([0.9, 0.1])).precision
    array([0.5, 1. , 1. ])
    """
    if not positive.any():
        return None
    thresholds, inverse, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    hits = np.cumsum(np.bincount(inverse, weights=positive, minlength=len(thresholds)))
    precision = hits / np.cumsum(counts)
    return PrecisionRecallPoints(np.append(hits[::-1] / hits[-1], 0.0), np.append(precision[::-1], 1.0))


def draw_precision_recall(axes: Axes, curves: Sequence[tuple[str, PrecisionRecallPoints]]) -> Axes:
    """Draw labelled curves in steps, as average precision adds it up; the baseline is the share of positives."""
    for number, (label, points) in enumerate(curves):
        style = line_style(number)
        axes.plot(*points, label=label, drawstyle="steps-post", solid_joinstyle="miter", clip_on=False, **style)
        share = points.precision[0]
        axes.plot(
            [0, 1], [share, share], color=style["color"] if len(curves) > 1 else FAINT, linewidth=1, dashes=(4, 4)
        )
    if len(curves) == 1:
        axes.fill_between(*points, step="post", color=line_style(0)["color"], alpha=0.12, linewidth=0)
    elif len(curves) <= MOST_IN_LEGEND:
        legend(axes, loc="lower left")
    unit_square(axes, "recall", "precision")
    return axes
