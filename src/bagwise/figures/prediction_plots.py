"""Plots of predictions: calibration, confusion matrix, and histogram of probabilities."""

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from bagwise.figures.style import BLUE, COLOUR_MAP, FAINT, SERIES, add_grid, add_legend, shorten_text
from bagwise.targets import CalibrationBins

MAX_DOT_AREA = 260  # in square points
MAX_LABELS_LENGTH = 28  # characters of all class names that fit below the cells without rotation
MAX_CLASSES_WITH_COUNTS = 12  # with more classes, the numbers do not fit into the cells
LUMINANCE_WEIGHTS = (0.2126, 0.7152, 0.0722)  # of red, green and blue
MIN_LUMINANCE_FOR_BLACK = 0.18  # at this luminance, black and white text have the same contrast


def plot_calibration(axes: Axes, bins: CalibrationBins, lowest: float = 0.0) -> Axes:
    """Plot the share of correct predictions against the confidence, with one dot per bin.

    The area of a dot shows the number of bags, and a vertical line its distance from the diagonal. Dots on the diagonal
    are perfectly calibrated: of the bags predicted with a confidence of 0.8, 80 % are correct.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    bins : CalibrationBins
        Bins of confidence.
    lowest : float, default=0.0
        Lower limit of the confidence axis; the lowest possible confidence is 1 / n_classes.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.
    """
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=(0, (4, 4)))
    axes.vlines(bins.confidence, bins.confidence, bins.accuracy, color=BLUE, linewidth=1.5, alpha=0.5)
    areas = 20 + MAX_DOT_AREA * bins.n_bags / max(int(bins.n_bags.sum()), 1)
    axes.scatter(bins.confidence, bins.accuracy, s=areas, color=BLUE, alpha=0.8, linewidth=0, zorder=3, clip_on=False)
    axes.set(xlim=(lowest - 0.02, 1.02), ylim=(-0.02, 1.04), xlabel="confidence", ylabel="share of bags correct")
    add_grid(axes)
    return axes


def plot_confusion(axes: Axes, counts: np.ndarray, classes: Sequence[str]) -> Axes:
    """Plot a confusion matrix; colours show the shares of each true class, so that rare classes are visible too.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    counts : numpy.ndarray of int, of shape (n_classes, n_classes)
        Number of bags, with one row per true class and one column per predicted class.
    classes : sequence of str
        Names of the classes.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.
    """
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    axes.pcolormesh(shares, cmap=COLOUR_MAP, vmin=0, vmax=1)
    if len(classes) <= MAX_CLASSES_WITH_COUNTS:
        _write_counts(axes, counts, shares)
    names = [shorten_text(name) for name in classes]
    slanted = sum(map(len, names)) > MAX_LABELS_LENGTH
    centres = np.arange(len(names)) + 0.5
    axes.set_xticks(
        centres, names, parse_math=False, rotation=40 if slanted else 0, ha="right" if slanted else "center"
    )
    axes.set_yticks(centres, names, parse_math=False)
    axes.set(xlabel="predicted", ylabel="true", aspect="equal")
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return axes


def _write_counts(axes: Axes, counts: np.ndarray, shares: np.ndarray) -> None:
    are_cells_large = len(counts) <= 4
    for (row, column), share in np.ndenumerate(shares):
        luminance = np.dot(LUMINANCE_WEIGHTS, np.power(matplotlib.colormaps[COLOUR_MAP](share)[:3], 2.2))
        text = f"{counts[row, column]}\n{share:.0%}" if are_cells_large else f"{counts[row, column]}"
        label = axes.text(
            column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=11 if are_cells_large else 8
        )
        label.set_color("black" if luminance > MIN_LUMINANCE_FOR_BLACK else "white")


def plot_probability_histogram(
    axes: Axes, edges: np.ndarray, counts: Sequence[tuple[str, np.ndarray]], x_label: str
) -> Axes:
    """Plot histograms of probabilities, one per class, with the bars of a bin side by side.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    edges : numpy.ndarray of shape (n_bins + 1,)
        Edges of the bins.
    counts : sequence of (str, numpy.ndarray of shape (n_bins,))
        Label and number of bags in each bin, for each class.
    x_label : str
        Label of the horizontal axis.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.
    """
    width = np.diff(edges) / (len(counts) + 0.4)
    for number, (label, heights) in enumerate(counts):
        left = edges[:-1] + width * (number + 0.2)
        axes.bar(left, heights, width=width, align="edge", color=SERIES[number % len(SERIES)], linewidth=0, label=label)
    axes.set(xlim=(edges[0], edges[-1]), ylabel="bags")
    axes.set_xlabel(x_label, parse_math=False)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    add_grid(axes)
    axes.grid(visible=False, axis="x")
    add_legend(axes)
    return axes
