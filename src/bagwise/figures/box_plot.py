"""Methods side by side: the middle half of each one's folds, and every fold as a dot."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from bagwise.figures.style import BLUE, FAINT, INK, VERMILLION, grid, shortened

LONGEST_NAME = 24
JITTER = 0.22


def draw_box_plot(axes: Axes, values: Mapping[str, np.ndarray], along: str) -> Axes:
    """Draw a horizontal box for each name, from the top down; the dot in vermillion is the mean.

    The whiskers reach to the last fold within one and a half times the middle half; the dots of the folds are moved up
    and down a little, always by the same, so that equal ones can be counted.
    """
    places = np.arange(len(values))[::-1]
    rows = [row[~np.isnan(row)] for row in (np.ravel(each) for each in values.values())]
    line = {"color": INK, "linewidth": 1}
    axes.boxplot(
        rows,
        positions=places,
        orientation="horizontal",
        widths=0.6,
        showfliers=False,
        boxprops=line,
        whiskerprops=line,
        capprops=line,
        medianprops={**line, "linewidth": 2},
    )
    for place, row in zip(places, rows, strict=True):
        shifts = JITTER * np.cos(np.pi * np.arange(len(row)) * (np.sqrt(5) - 1))  # spread evenly, without a draw
        axes.scatter(row, place + shifts, s=18, color=BLUE, alpha=0.55, linewidth=0, zorder=3)
        if len(row):
            axes.scatter(row.mean(), place, s=42, color=VERMILLION, linewidth=0, zorder=4)
    axes.set_yticks(places, [shortened(name, LONGEST_NAME) for name in values], parse_math=False)
    axes.set(xlabel=along, ylim=(-0.6, len(values) - 0.4))
    axes.tick_params(axis="y", length=0, color=FAINT)
    grid(axes)
    axes.grid(visible=False, axis="y")
    return axes
