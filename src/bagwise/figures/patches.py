"""Patches in rows, such as the stored ones above what augmentation makes of them, for a person to look at."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

GAP = 0.08  # between patches, in widths of one


def draw_patches(axes: Axes, rows: Sequence[tuple[str, np.ndarray]], peak: float = 255.0) -> Axes:
    """Draw labelled rows of images, those of one column above each other, all of them the same size.

    rows : (n, height, width) or (n, height, width, 3) images, each row with its own height and width
    peak : the value of full white; values are drawn as they are, and cut off outside 0 … peak

    >>> from matplotlib.figure import Figure
    >>> stored = np.zeros((5, 27, 27, 3), dtype=np.uint8)
    >>> axes = draw_patches(Figure().subplots(), [("stored", stored), ("brighter", stored + 40.0)])
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['stored', 'brighter']
    """
    for number, (_, images) in enumerate(rows):
        for column, image in enumerate(np.clip(images / peak, 0, 1)):
            left, bottom = column * (1 + GAP), -number * (1 + GAP)
            axes.imshow(image, extent=(left, left + 1, bottom, bottom + 1), cmap="gray", vmin=0, vmax=1)
    widest = max(len(images) for _, images in rows)
    axes.set(xlim=(-GAP, widest * (1 + GAP)), ylim=(-(len(rows) - 1) * (1 + GAP) - GAP, 1 + GAP), aspect="equal")
    centres = 0.5 - np.arange(len(rows)) * (1 + GAP)
    axes.set_yticks(centres, [label for label, _ in rows], parse_math=False)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return axes
