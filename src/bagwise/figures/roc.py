"""The ROC curve: hits against false alarms, at every threshold."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from bagwise.curves import RocPoints
from bagwise.figures.style import FAINT, MOST_IN_LEGEND, legend, line_style, unit_square


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
