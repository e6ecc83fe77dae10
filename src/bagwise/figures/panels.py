"""Pictures of one place side by side under their titles, as in Figures 5 and 6 of Ilse et al. 2018."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure


def draw_panels(figure: Figure, pictures: Mapping[str, np.ndarray]) -> Figure:
    """Draw pictures, (height, width, 3) bytes, by their titles.

    >>> figure = draw_panels(Figure(), {"(a) image": np.zeros((4, 4, 3), np.uint8)})
    >>> figure.axes[0].get_title()
    '(a) image'
    """
    for axes, (title, picture) in zip(
        figure.subplots(1, len(pictures), squeeze=False)[0], pictures.items(), strict=True
    ):
        axes.imshow(picture)
        axes.set_title(title, parse_math=False)
        axes.set_axis_off()
    return figure
