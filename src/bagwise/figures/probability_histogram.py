"""How sure the predictions are: a histogram of probabilities for each kind of bag."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from bagwise.figures.style import SERIES, grid, legend


def draw_probability_histogram(
    axes: Axes, edges: np.ndarray, counts: Sequence[tuple[str, np.ndarray]], across: str
) -> Axes:
    """Draw the numbers of bags between the edges, side by side within each bin, so that no bar hides another."""
    width = np.diff(edges) / (len(counts) + 0.4)
    for number, (label, bars) in enumerate(counts):
        left = edges[:-1] + width * (number + 0.2)
        axes.bar(left, bars, width=width, align="edge", color=SERIES[number % len(SERIES)], linewidth=0, label=label)
    axes.set(xlim=(edges[0], edges[-1]), ylabel="bags")
    axes.set_xlabel(across, parse_math=False)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    grid(axes)
    axes.grid(visible=False, axis="x")
    legend(axes)
    return axes
