"""Learning curves: loss and error of each epoch, and the epoch whose weights were kept."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from bagwise.figures.style import BLUE, FAINT, VERMILLION, grid, legend

LINES = {
    "loss": ("training loss", BLUE, "-"),
    "validation_loss": ("validation loss", VERMILLION, "-"),
    "error": ("training error", BLUE, ":"),
    "validation_error": ("validation error", VERMILLION, ":"),
}


def draw_learning_curves(axes: Axes, history: Mapping[str, np.ndarray], best: int | None = None) -> Axes:
    """Draw the columns of a history against its epochs.

    history : "epoch" and any of "loss", "validation_loss", "error", "validation_error"; NaN where nothing was measured
    best : the epoch to mark
    """
    epochs = history["epoch"]
    marker = "o" if len(epochs) == 1 else None  # a line of one point cannot be seen
    for column, (label, colour, dashes) in LINES.items():
        if column in history and not np.isnan(history[column]).all():
            axes.plot(epochs, history[column], label=label, color=colour, linestyle=dashes, marker=marker)
    if best is not None:
        axes.axvline(best, color=FAINT, linewidth=1, dashes=(4, 4))
    axes.set(xlabel="epoch", ylim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.02)
    grid(axes)
    legend(axes)
    return axes
