"""The confusion matrix: what each class was taken for."""

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from bagwise.figures.style import COLOUR_MAP, shortened

LONGEST_ROW = 28  # letters that fit below the cells
MOST_WRITTEN = 12  # beyond so many classes the numbers would not fit their cells
LUMINANCE = (0.2126, 0.7152, 0.0722)  # of red, green and blue
DARKEST_FOR_BLACK = 0.18  # of this luminance black and white contrast the same


def draw_confusion(axes: Axes, counts: np.ndarray, classes: Sequence[str]) -> Axes:
    """Draw the counts; the colour is the share of the true class, so that rare classes are seen as well."""
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    axes.pcolormesh(shares, cmap=COLOUR_MAP, vmin=0, vmax=1)
    if len(classes) <= MOST_WRITTEN:
        _write_cells(axes, counts, shares)
    names = [shortened(name) for name in classes]
    slanted = sum(map(len, names)) > LONGEST_ROW
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


def _write_cells(axes: Axes, counts: np.ndarray, shares: np.ndarray) -> None:
    for (row, column), share in np.ndenumerate(shares):
        luminance = np.dot(LUMINANCE, np.power(matplotlib.colormaps[COLOUR_MAP](share)[:3], 2.2))
        few = len(counts) <= 4
        words = f"{counts[row, column]}\n{share:.0%}" if few else f"{counts[row, column]}"
        written = axes.text(column + 0.5, row + 0.5, words, ha="center", va="center", fontsize=11 if few else 8)
        written.set_color("black" if luminance > DARKEST_FOR_BLACK else "white")
