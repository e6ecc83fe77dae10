"""A map laid over its picture; where there is no tile, or too little value, the picture shows as it is.

pixel = (1 − opacity) · picture + opacity · colour
"""

import numpy as np

from bagwise.errors import InputError
from bagwise.explain.heatmaps.colours import Colouring, coloured
from bagwise.explain.heatmaps.raster import Heatmap

OPACITY = 0.5
PIECE = 1 << 21  # pixels mixed at once


def overlay(
    image: np.ndarray,
    heatmap: Heatmap,
    colours: Colouring,
    opacity: float = OPACITY,
    threshold: float | None = None,
) -> np.ndarray:
    """The (height, width, 3) bytes of a picture with a map of scaled values over it.

    image : (height, width, 3) bytes of the window that the map was made for
    threshold : the least scaled value that is drawn, of signed ones the least magnitude; None draws every tile
    """
    if image.shape != (*heatmap.values.shape, 3):
        raise InputError(f"a picture of shape {image.shape} cannot carry a map of shape {heatmap.values.shape}")
    if not 0 <= opacity <= 1:
        raise InputError(f"opacity is {opacity}; give a number from 0, the picture alone, to 1, the map alone")
    result = image.copy()
    step = max(1, PIECE // image.shape[1])
    for top in range(0, len(image), step):
        rows = slice(top, top + step)
        _mix(result[rows], heatmap.values[rows], colours, opacity, threshold)
    return result


def _mix(pixels: np.ndarray, values: np.ndarray, colours: Colouring, opacity: float, threshold: float | None) -> None:
    """Change the pixels of some rows in place."""
    drawn = np.isfinite(values)
    if threshold is not None:
        drawn &= np.abs(np.nan_to_num(values)) >= threshold
    pixels[drawn] = np.rint((1 - opacity) * pixels[drawn] + opacity * coloured(values[drawn], colours))
