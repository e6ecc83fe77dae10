"""The precision-recall curve: how pure the alarms are, against how many positives they find."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from bagwise.curves import PrecisionRecallPoints
from bagwise.figures.style import FAINT, MOST_IN_LEGEND, legend, line_style, unit_square


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
