"""Deletion and insertion: the probability of a class as a bag's first instances are taken away, or put in."""

import numpy as np
from matplotlib.axes import Axes

from bagwise.figures.style import FAINT, legend, line_style, unit_square


def draw_removal_curves(axes: Axes, shares: np.ndarray, deletion: np.ndarray, insertion: np.ndarray) -> Axes:
    """Draw both curves, and where they would meet if the order of the instances said nothing."""
    axes.axhline(deletion[0], color=FAINT, linewidth=1, linestyle=(0, (4, 4)))
    curves = {"without the first instances": deletion, "of the first instances alone": insertion}
    for number, (label, heights) in enumerate(curves.items()):
        axes.plot(shares, heights, label=label, clip_on=False, **line_style(number))
    unit_square(axes, "share of the instances, the strongest first", "probability")
    legend(axes)
    return axes
