"""Scales of a map: how values become colours, from 0 to 1, and signed ones from −1 to 1.

    paper   (v − min v)/(max v − min v)              as in the figures of Ilse et al. 2018
    raw     v / max v
    rank    the share of the other values that lie below v
    log     1 + log₁₀(v / max v)/4, and 0 from the fourth decade below the greatest on

Signed values are scaled by their magnitude, with zero among the magnitudes, so that nothing stays nothing.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.names import canonical, choose

DECADES = 4


class Scaled(NamedTuple):
    """Values on a scale, and what its ends stand for."""

    values: np.ndarray  # (n,) float64, from 0 to 1, or from −1 to 1 if signed
    low: float  # the value that is drawn as 0, or as −1 if signed
    high: float  # the value that is drawn as 1
    signed: bool
    words: str  # "rank scale", for a caption


class Scale(NamedTuple):
    """A scale: its name in a caption, what it makes of values, and the value that it draws as 0."""

    words: str
    scaled: Callable[[np.ndarray], np.ndarray]
    low: Callable[[np.ndarray], float]


def rescaled(values: np.ndarray) -> np.ndarray:
    """From 0, the least, to 1, the greatest; all 1 where they are the same.

    >>> rescaled(np.array([2.0, 3.0, 4.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    span = values.max() - values.min()
    return (values - values.min()) / span if span > 0 else np.ones(len(values))


def _raw(values: np.ndarray) -> np.ndarray:
    _check_not_negative(values, "raw")
    return values / (values.max() or 1)


def _rank(values: np.ndarray) -> np.ndarray:
    """Values that are equal share their rank; where all are, it is 1, as on the paper's scale."""
    below = np.searchsorted(np.sort(values), values, side="left")
    return below / (len(values) - 1) if below.any() else np.ones(len(values))


def _log(values: np.ndarray) -> np.ndarray:
    _check_not_negative(values, "log")
    with np.errstate(divide="ignore"):  # the logarithm of zero lies below every decade
        return np.clip(1 + np.log10(values / (values.max() or 1)) / DECADES, 0, 1)


SCALES = {
    "paper": Scale("rescaled from the least to the greatest", rescaled, lambda values: float(values.min())),
    "raw": Scale("raw scale", _raw, lambda values: 0.0),
    "rank": Scale("rank scale", _rank, lambda values: float(values.min())),
    "log": Scale(f"log scale of {DECADES} decades", _log, lambda values: float(values.max() / 10**DECADES)),
}


def to_scale(values: np.ndarray, scale: str) -> Scaled:
    """Values such as weights, on a scale from 0 to 1.

    >>> to_scale(np.array([0.1, 0.2, 0.7]), "rank").values.tolist()
    [0.0, 0.5, 1.0]
    """
    chosen, values = choose(scale, SCALES, "scale"), checked_values(values)
    return Scaled(chosen.scaled(values), chosen.low(values), float(values.max()), False, chosen.words)


def to_signed_scale(values: np.ndarray, scale: str) -> Scaled:
    """Values that speak for or against, such as contributions, on a scale from −1 to 1; zero stays zero.

    >>> to_signed_scale(np.array([-2.0, 0.0, 1.0]), "raw").values.tolist()
    [-1.0, 0.0, 0.5]
    """
    chosen, values = choose(scale, SCALES, "scale"), checked_values(values)
    magnitudes = np.append(np.abs(values), 0.0)
    greatest = float(magnitudes.max())
    words = SCALES["raw"].words if canonical(scale) == "paper" else chosen.words  # from zero on, the two are one
    return Scaled(np.sign(values) * chosen.scaled(magnitudes)[:-1], -greatest, greatest, True, words)


def checked_values(values: np.ndarray) -> np.ndarray:
    """Values of tiles in double precision, if they can be drawn."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise InputError(f"values to draw have shape {values.shape}; give one number a tile, of at least one tile")
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(f"the value of tile {row} is {values[row]}; only finite values can be drawn")
    return values


def _check_not_negative(values: np.ndarray, scale: str) -> None:
    if (values < 0).any():
        raise InputError(
            f"the {scale} scale begins at zero, and values go down to {values.min():g}; take paper or rank"
        )
