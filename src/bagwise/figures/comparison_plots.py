"""Plots that compare results: pairs of means with error bars, and box plots of the folds of each method."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from bagwise.figures.style import BLUE, FAINT, INK, VERMILLION, add_grid, add_legend, get_line_style, shorten_text

MeanAndError = tuple[float, float | None]  # the error is None if it is unknown

MAX_DOT_NAME_LENGTH = 18
MAX_BOX_NAME_LENGTH = 24
DOT_SHIFT = 0.14  # vertical shift of the two dots of a row
JITTER = 0.22  # largest vertical shift of the dots of a box plot


def plot_paired_dots(
    axes: Axes, pairs: Mapping[str, tuple[MeanAndError | None, MeanAndError | None]], labels: tuple[str, str]
) -> Axes:
    """Plot pairs of means with error bars, one row per name, from top to bottom.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    pairs : mapping of str to tuple
        Two means with their errors for each name, None for an unknown mean; the first is plotted above the second.
    labels : tuple of (str, str)
        Labels of the first and of the second means.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.
    """
    rows = np.arange(len(pairs))[::-1]
    for number, (colour, marker, shift) in enumerate(((BLUE, "o", DOT_SHIFT), (VERMILLION, "D", -DOT_SHIFT))):
        values = [(row, pair[number]) for row, pair in zip(rows, pairs.values(), strict=True)]
        known = [(row, *value) for row, value in values if value is not None]
        axes.errorbar(
            [mean for _, mean, _ in known],
            [row + shift for row, _, _ in known],
            xerr=[error or 0.0 for *_, error in known],
            fmt=marker,
            color=colour,
            markersize=4,
            elinewidth=1.2,
            linestyle="none",
            label=labels[number],
        )
    axes.set_yticks(rows, [shorten_text(name, MAX_DOT_NAME_LENGTH) for name in pairs], parse_math=False)
    axes.set(ylim=(-0.7, len(pairs) - 0.3))
    add_grid(axes)
    return axes


def plot_paired_lines(
    axes: Axes,
    x_values: Sequence[float],
    lines: Mapping[str, tuple[Sequence[MeanAndError | None], Sequence[MeanAndError | None]]],
) -> Axes:
    """Plot a line with error bars for each name, and reference means as a thin line of the same colour.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    x_values : sequence of float
        Positions of the means on the horizontal axis.
    lines : mapping of str to tuple of sequences
        Means with their errors and reference means for each name; None for an unknown mean.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.
    """
    for number, (name, (own, reference)) in enumerate(lines.items()):
        style = get_line_style(number)
        known = [(x, *value) for x, value in zip(x_values, own, strict=True) if value is not None]
        axes.errorbar(
            [x for x, *_ in known],
            [mean for _, mean, _ in known],
            yerr=[error or 0.0 for *_, error in known],
            marker="o",
            markersize=4,
            elinewidth=1,
            label=name,
            **style,
        )
        points = [(x, value[0]) for x, value in zip(x_values, reference, strict=True) if value is not None]
        axes.plot([x for x, _ in points], [mean for _, mean in points], **style, linewidth=0.9, alpha=0.55)
    add_legend(axes, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, columnspacing=1.2, handlelength=4)
    add_grid(axes)
    return axes


def plot_boxes(axes: Axes, values: Mapping[str, np.ndarray], x_label: str) -> Axes:
    """Plot a horizontal box plot for each name, from top to bottom; the vermillion dot is the mean.

    The whiskers extend to the last fold within 1.5 interquartile ranges. Every fold is a blue dot. The dots have a
    small vertical shift, which is not random, so that equal values can be distinguished.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to plot on.
    values : mapping of str to numpy.ndarray
        Values of all folds for each name; NaN is ignored.
    x_label : str
        Label of the horizontal axis.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.
    """
    rows = np.arange(len(values))[::-1]
    folds = [flat[~np.isnan(flat)] for flat in (np.ravel(each) for each in values.values())]
    line = {"color": INK, "linewidth": 1}
    axes.boxplot(
        folds,
        positions=rows,
        orientation="horizontal",
        widths=0.6,
        showfliers=False,
        boxprops=line,
        whiskerprops=line,
        capprops=line,
        medianprops={**line, "linewidth": 2},
    )
    for row, own in zip(rows, folds, strict=True):
        shifts = JITTER * np.cos(np.pi * np.arange(len(own)) * (np.sqrt(5) - 1))  # evenly spread, but not random
        axes.scatter(own, row + shifts, s=18, color=BLUE, alpha=0.55, linewidth=0, zorder=3)
        if len(own):
            axes.scatter(own.mean(), row, s=42, color=VERMILLION, linewidth=0, zorder=4)
    axes.set_yticks(rows, [shorten_text(name, MAX_BOX_NAME_LENGTH) for name in values], parse_math=False)
    axes.set(xlabel=x_label, ylim=(-0.6, len(values) - 0.4))
    axes.tick_params(axis="y", length=0, color=FAINT)
    add_grid(axes)
    axes.grid(visible=False, axis="y")
    return axes
