"""A bag at a glance: its instances with their weights, true key instances framed (Figure 4 of Ilse et al. 2018)."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from bagwise.figures.pictures import displayable, is_picture
from bagwise.figures.style import BLUE, FAINT, VERMILLION

GAP = 0.15  # between instances, in widths of one
CAPTION = 0.35  # room for the weight below an instance
TELLING = 0.1  # a weight from which on two digits are enough


def draw_bag_strip(
    axes: Axes, instances: np.ndarray, weights: np.ndarray, key: np.ndarray | None = None, columns: int = 12
) -> Axes:
    """Draw the instances in the order given, ``columns`` a row; sort them by weight before, if that is wanted.

    instances : (n, …) images, drawn as they are, or vectors, for which a bar as high as the weight stands
    key : (n,) truth values: the instances to frame
    """
    digits = 2 if weights.max() >= TELLING else 4
    images = displayable(instances) if is_picture(instances.shape[1:]) else None
    for number, weight in enumerate(weights):
        left = (number % columns) * (1 + GAP)
        bottom = -(number // columns) * (1 + GAP + CAPTION)
        if images is None:
            axes.add_patch(Rectangle((left, bottom), 1, float(weight), color=BLUE, linewidth=0))
        else:
            axes.imshow(images[number], extent=(left, left + 1, bottom, bottom + 1), cmap="gray", vmin=0, vmax=255)
        _frame(axes, left, bottom, is_key=key is not None and bool(key[number]))
        axes.text(left + 0.5, bottom - 0.06, f"{weight:.{digits}f}", ha="center", va="top")
    rows = -(-len(weights) // columns)
    right = min(len(weights), columns) * (1 + GAP)
    axes.set(xlim=(-GAP, right), ylim=(-(rows - 1) * (1 + GAP + CAPTION) - CAPTION, 1 + GAP), aspect="equal")
    axes.set_axis_off()
    return axes


def _frame(axes: Axes, left: float, bottom: float, is_key: bool) -> None:
    colour, thickness = (VERMILLION, 3.0) if is_key else (FAINT, 0.8)
    axes.add_patch(Rectangle((left, bottom), 1, 1, facecolor="none", edgecolor=colour, linewidth=thickness))
