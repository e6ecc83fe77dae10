"""Calibration: of the bags predicted with a confidence of 0.8, are eight in ten right?"""

from matplotlib.axes import Axes

from bagwise.curves import CalibrationBins
from bagwise.figures.style import BLUE, FAINT, grid

LARGEST_AREA = 260


def draw_calibration(axes: Axes, bins: CalibrationBins, lowest: float = 0.0) -> Axes:
    """Draw a dot a bin, its area as the number of bags, with its distance from the diagonal.

    lowest : the least confidence there can be, one over the number of classes
    """
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=(0, (4, 4)))
    axes.vlines(bins.confidence, bins.confidence, bins.share_right, color=BLUE, linewidth=1.5, alpha=0.5)
    areas = 20 + LARGEST_AREA * bins.n_bags / max(int(bins.n_bags.sum()), 1)
    axes.scatter(
        bins.confidence, bins.share_right, s=areas, color=BLUE, alpha=0.8, linewidth=0, zorder=3, clip_on=False
    )
    axes.set(xlim=(lowest - 0.02, 1.02), ylim=(-0.02, 1.04), xlabel="confidence", ylabel="share of bags right")
    grid(axes)
    return axes
