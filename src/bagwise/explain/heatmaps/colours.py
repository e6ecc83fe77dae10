"""Colours of a map: even steps to the eye, told apart by every eye, and a neutral middle where values have a sign."""

from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.colors import Colormap

from bagwise.errors import InputError
from bagwise.figures.style import COLOUR_MAP
from bagwise.names import nearest

DIVERGING = "RdBu_r"  # blue against, red for; ColorBrewer's, told apart by every eye
STEPS = 257  # an odd number, so that zero is exactly the middle


class Colouring(NamedTuple):
    """A colour map, and the scaled value that its lower end stands for: 0, or −1 for signed values."""

    colours: Colormap
    lowest: float

    @property
    def signed(self) -> bool:
        return self.lowest < 0


def colouring(signed: bool, name: str | None = None) -> Colouring:
    """The colour map of this name in matplotlib; None for the one that is best for such values."""
    name = name or (DIVERGING if signed else COLOUR_MAP)
    if name not in matplotlib.colormaps:
        raise InputError(f"colour map '{name}' is unknown; {_hint(name)}")
    return Colouring(matplotlib.colormaps[name].resampled(STEPS), -1.0 if signed else 0.0)


def coloured(values: np.ndarray, colours: Colouring) -> np.ndarray:
    """The (…, 3) bytes of scaled values; what is not a number becomes black, for whoever draws to leave out.

    >>> coloured(np.array([0.0]), colouring(signed=True)).tolist()
    [[247, 247, 247]]
    """
    shares = (np.nan_to_num(values) - colours.lowest) / (1 - colours.lowest)
    found = colours.colours(shares, bytes=True)[..., :3]
    return np.where(np.isnan(values)[..., None], np.uint8(0), found)


def _hint(name: str) -> str:
    close = nearest(name, matplotlib.colormaps)
    good = f"even steps have: {COLOUR_MAP}, viridis, magma, inferno; a neutral middle: {DIVERGING}, PuOr_r, coolwarm"
    return close if close.startswith("did") else good
