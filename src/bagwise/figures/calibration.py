"""Calibration: of the bags predicted with a confidence of 0.8, are eight in ten right?"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from bagwise.figures.style import BLUE, FAINT, grid

LARGEST_AREA = 260


class CalibrationBins(NamedTuple):
    """Bins of confidence that hold bags, in order."""

    confidence: np.ndarray  # mean probability of the predicted class
    share_right: np.ndarray
    n_bags: np.ndarray


def calibration_bins(targets: np.ndarray, probabilities: np.ndarray, n_bins: int = 10) -> CalibrationBins:
    """Bin bags by the probability of the class predicted for them.

    The bins have equal width, and empty ones are left out. The mean gap between confidence and share right, weighted by
    bags, is the expected calibration error.
    """
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == targets
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    n_bags = np.bincount(bins, minlength=n_bins)
    held = n_bags > 0
    means = [np.bincount(bins, weights=values, minlength=n_bins)[held] / n_bags[held] for values in (confidence, right)]
    return CalibrationBins(means[0], means[1], n_bags[held])


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
