"""The colour maps of the page as tables of bytes: the same colours as in the pictures of `bagwise.explain`."""

from functools import cache

import numpy as np

from bagwise.explain.heatmaps.colours import DIVERGING, STEPS, coloured, colouring
from bagwise.figures.style import COLOUR_MAP

SEQUENTIAL_NAMES = (COLOUR_MAP, "viridis", "magma")
DIVERGING_NAMES = (DIVERGING, "PuOr_r")


@cache
def colour_tables() -> dict[str, dict[str, list[list[int]]]]:
    """By kind and name: red, green and blue, from the lowest value to the highest; the first name is the default."""
    return {
        "sequential": {name: _table(False, name) for name in SEQUENTIAL_NAMES},
        "diverging": {name: _table(True, name) for name in DIVERGING_NAMES},
    }


def _table(signed: bool, name: str) -> list[list[int]]:
    colours = colouring(signed, name)
    return coloured(np.linspace(colours.lowest, 1, STEPS), colours).tolist()
