"""Plots of curves: ROC, precision and recall, deletion and insertion of instances, and training history."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from bagwise.figures.style import (
    BLUE,
    FAINT,
    MAX_LEGEND_ENTRIES,
    VERMILLION,
    add_grid,
    add_legend,
    get_line_style,
    set_unit_square,
)
from bagwise.targets import Output, PrecisionRecallPoints, RocPoints

HISTORY_LINES = {  # label, colour and line style of each column
    "loss": ("training loss", BLUE, "-"),
    "validation_loss": ("validation loss", VERMILLION, "-"),
    "error": ("training error", BLUE, ":"),
    "validation_error": ("validation error", VERMILLION, ":"),
}


def plot_roc(axes: Axes, curves: Sequence[tuple[str, RocPoints]]) -> Axes:
    """Plot ROC curves, and the diagonal as chance level.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    curves : sequence of (str, RocPoints)
        Label and points of each curve.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.
    """
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=(0, (4, 4)))
    for number, (label, points) in enumerate(curves):
        axes.plot(*points, label=label, solid_joinstyle="miter", clip_on=False, **get_line_style(number))
    if len(curves) == 1:
        axes.fill_between(*points, color=get_line_style(0)["color"], alpha=0.12, linewidth=0)
    elif len(curves) <= MAX_LEGEND_ENTRIES:
        add_legend(axes, loc="lower right")
    set_unit_square(axes, "false positive rate", "true positive rate")
    return axes


def plot_precision_recall(axes: Axes, curves: Sequence[tuple[str, PrecisionRecallPoints]]) -> Axes:
    """Plot precision-recall curves.

    The area under the steps is the average precision. The dashed baseline is the share of positives.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    curves : sequence of (str, PrecisionRecallPoints)
        Label and points of each curve.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.
    """
    for number, (label, points) in enumerate(curves):
        style = get_line_style(number)
        axes.plot(*points, label=label, drawstyle="steps-post", solid_joinstyle="miter", clip_on=False, **style)
        positive_share = points.precision[0]
        baseline_colour = style["color"] if len(curves) > 1 else FAINT
        axes.plot([0, 1], [positive_share, positive_share], color=baseline_colour, linewidth=1, dashes=(4, 4))
    if len(curves) == 1:
        axes.fill_between(*points, step="post", color=get_line_style(0)["color"], alpha=0.12, linewidth=0)
    elif len(curves) <= MAX_LEGEND_ENTRIES:
        add_legend(axes, loc="lower left")
    set_unit_square(axes, "recall", "precision")
    return axes


def plot_removal_curves(
    axes: Axes, shares: np.ndarray, deletion: np.ndarray, insertion: np.ndarray, output: Output
) -> Axes:
    """Plot an output while the top instances of a bag are deleted, or inserted into an empty bag.

    The dashed line is the output for the whole bag.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    shares : numpy.ndarray of shape (n_points,)
        Share of instances that are deleted or inserted.
    deletion : numpy.ndarray of shape (n_points,)
        Output without these instances.
    insertion : numpy.ndarray of shape (n_points,)
        Output with these instances only.
    output : Output
        The output, such as the probability of a class.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.
    """
    axes.axhline(deletion[0], color=FAINT, linewidth=1, linestyle=(0, (4, 4)))
    curves = {"without the top instances": deletion, "with only the top instances": insertion}
    for number, (label, values) in enumerate(curves.items()):
        axes.plot(shares, values, label=label, clip_on=False, **get_line_style(number))
    x_label = "share of the instances, strongest first"
    if (output.low, output.high) == (0, 1):
        set_unit_square(axes, x_label, output.kind)
    else:
        axes.set(xlabel=x_label, ylabel=output.title)
        add_grid(axes)
    add_legend(axes)
    return axes


def plot_learning_curves(axes: Axes, history: Mapping[str, np.ndarray], best: int | None = None) -> Axes:
    """Plot the loss and the error of each epoch.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    history : mapping of str to numpy.ndarray
        Column "epoch", and any of "loss", "validation_loss", "error" and "validation_error"; NaN where nothing was
        measured.
    best : int or None, default=None
        Epoch to mark, usually the one whose parameters were kept; None marks no epoch.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.
    """
    epochs = history["epoch"]
    marker = "o" if len(epochs) == 1 else None  # a line of one point is invisible
    for column, (label, colour, dashes) in HISTORY_LINES.items():
        if column in history and not np.isnan(history[column]).all():
            axes.plot(epochs, history[column], label=label, color=colour, linestyle=dashes, marker=marker)
    if best is not None:
        axes.axvline(best, color=FAINT, linewidth=1, dashes=(4, 4))
    axes.set(xlabel="epoch", ylim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.02)
    add_grid(axes)
    add_legend(axes)
    return axes
