"""Scales and colours of a map: values are mapped to [0, 1], signed values to [−1, 1], and then to colours.

    paper   (v − min v)/(max v − min v)              as in the figures of Ilse et al. 2018
    raw     v / max v
    rank    the share of the other values that are below v
    log     1 + log₁₀(v / max v)/4, and 0 for values four or more decades below the maximum

Signed values are scaled by their magnitude. Zero is included among the magnitudes, so that zero is mapped to zero. The
default colour maps have perceptually even steps and are readable with colour vision deficiency; for signed values the
middle is neutral.
"""

import difflib
from collections.abc import Callable
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.colors import Colormap

from bagwise.arguments import canonicalize_name, choose_by_name
from bagwise.errors import InputError
from bagwise.figures import COLOUR_MAP

DECADES = 4
DIVERGING = "RdBu_r"  # blue: against the class, red: for it; readable with colour vision deficiency (ColorBrewer)
STEPS = 257  # odd, so that zero is exactly in the middle


class Scaled(NamedTuple):
    """Scaled values, and the original values at the ends of the scale.

    Attributes
    ----------
    values : ndarray of shape (n,)
        Scaled values (float64) from 0 to 1, or from −1 to 1 if signed.
    low : float
        The original value that is mapped to 0, or to −1 if signed.
    high : float
        The original value that is mapped to 1.
    signed : bool
        Whether the scale is signed.
    caption : str
        Name of the scale in captions, for example "rank scale".
    """

    values: np.ndarray
    low: float
    high: float
    signed: bool
    caption: str


class Scale(NamedTuple):
    """A scale: its name in captions, its function, and a function that returns the value it maps to 0."""

    caption: str
    transform: Callable[[np.ndarray], np.ndarray]
    compute_low: Callable[[np.ndarray], float]


def rescale(values: np.ndarray) -> np.ndarray:
    """Rescale values to the range from 0 to 1; if all values are equal, all results are 1.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The values.

    Returns
    -------
    ndarray of shape (n,)
        (v − min v)/(max v − min v).

    Examples
    --------
    >>> rescale(np.array([2.0, 3.0, 4.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    span = values.max() - values.min()
    return (values - values.min()) / span if span > 0 else np.ones(len(values))


def _scale_raw(values: np.ndarray) -> np.ndarray:
    _check_not_negative(values, "raw")
    return values / (values.max() or 1)


def _scale_ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks from 0 to 1; equal values have the same rank, which is 1 if all are equal, as in ``rescale``."""
    below = np.searchsorted(np.sort(values), values, side="left")
    return below / (len(values) - 1) if below.any() else np.ones(len(values))


def _scale_log(values: np.ndarray) -> np.ndarray:
    _check_not_negative(values, "log")
    with np.errstate(divide="ignore"):  # log(0) = −∞ is clipped to 0
        return np.clip(1 + np.log10(values / (values.max() or 1)) / DECADES, 0, 1)


SCALES = {
    "paper": Scale("rescaled from minimum to maximum", rescale, lambda values: float(values.min())),
    "raw": Scale("raw scale", _scale_raw, lambda values: 0.0),
    "rank": Scale("rank scale", _scale_ranks, lambda values: float(values.min())),
    "log": Scale(f"log scale of {DECADES} decades", _scale_log, lambda values: float(values.max() / 10**DECADES)),
}


def apply_scale(values: np.ndarray, scale: str) -> Scaled:
    """Map values such as weights to the range from 0 to 1.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite values.
    scale : {"paper", "raw", "rank", "log"}
        Name of the scale.

    Returns
    -------
    Scaled
        The scaled values and the ends of the scale.

    Raises
    ------
    InputError
        If a value is not finite, or is negative on the scale "raw" or "log".

    Examples
    --------
    >>> apply_scale(np.array([0.1, 0.2, 0.7]), "rank").values.tolist()
    [0.0, 0.5, 1.0]
    """
    chosen, values = choose_by_name(scale, SCALES, "scale"), check_values(values)
    return Scaled(
        values=chosen.transform(values),
        low=chosen.compute_low(values),
        high=float(values.max()),
        signed=False,
        caption=chosen.caption,
    )


def apply_signed_scale(values: np.ndarray, scale: str) -> Scaled:
    """Map signed values such as contributions to the range from −1 to 1; zero is mapped to zero.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite values.
    scale : {"paper", "raw", "rank", "log"}
        Name of the scale.

    Returns
    -------
    Scaled
        The scaled values and the ends of the scale.

    Raises
    ------
    InputError
        If a value is not finite.

    Examples
    --------
    >>> apply_signed_scale(np.array([-2.0, 0.0, 1.0]), "raw").values.tolist()
    [-1.0, 0.0, 0.5]
    """
    chosen, values = choose_by_name(scale, SCALES, "scale"), check_values(values)
    magnitudes = np.append(np.abs(values), 0.0)
    largest = float(magnitudes.max())
    same_as_raw = canonicalize_name(scale) == "paper"  # because the smallest magnitude is zero
    return Scaled(
        values=np.sign(values) * chosen.transform(magnitudes)[:-1],
        low=-largest,
        high=largest,
        signed=True,
        caption=SCALES["raw"].caption if same_as_raw else chosen.caption,
    )


def check_values(values: np.ndarray) -> np.ndarray:
    """Return the values of tiles as float64; raise an error if their shape is wrong or one is not finite."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise InputError(f"values must have shape (n_tiles,) with at least one tile, got {values.shape}")
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(f"values must be finite; the value of tile {row} is {values[row]}")
    return values


def _check_not_negative(values: np.ndarray, scale: str) -> None:
    if (values < 0).any():
        raise InputError(
            f"the {scale} scale requires non-negative values, but the minimum is {values.min():g}; "
            "use the scale 'paper' or 'rank'"
        )


class ColourMap(NamedTuple):
    """A colour map, and the scaled value of its first colour: 0, or −1 for signed values."""

    colours: Colormap
    lowest: float

    @property
    def signed(self) -> bool:
        return self.lowest < 0


def choose_colour_map(signed: bool, name: str | None = None) -> ColourMap:
    """Return a matplotlib colour map.

    Parameters
    ----------
    signed : bool
        Whether the values are signed.
    name : str or None, default=None
        Name of the colour map; None means cividis, or RdBu_r for signed values.

    Returns
    -------
    ColourMap
        The colour map and its lowest value.

    Raises
    ------
    InputError
        If the name is unknown.
    """
    name = name or (DIVERGING if signed else COLOUR_MAP)
    if name not in matplotlib.colormaps:
        raise InputError(f"unknown colour map '{name}'; {_suggest_colour_map(name)}")
    return ColourMap(matplotlib.colormaps[name].resampled(STEPS), -1.0 if signed else 0.0)


def apply_colours(values: np.ndarray, colours: ColourMap) -> np.ndarray:
    """Map scaled values to colours.

    Parameters
    ----------
    values : ndarray of any shape
        Scaled values; NaN becomes black.
    colours : ColourMap
        The colour map.

    Returns
    -------
    ndarray of shape (..., 3)
        Red, green and blue, as uint8.

    Examples
    --------
    >>> apply_colours(np.array([0.0]), choose_colour_map(signed=True)).tolist()
    [[247, 247, 247]]
    """
    shares = (np.nan_to_num(values) - colours.lowest) / (1 - colours.lowest)
    rgb = colours.colours(shares, bytes=True)[..., :3]
    return np.where(np.isnan(values)[..., None], np.uint8(0), rgb)


def _suggest_colour_map(name: str) -> str:
    by_lower_case = {choice.lower(): choice for choice in matplotlib.colormaps}
    close = difflib.get_close_matches(name.lower(), by_lower_case, n=1)
    if close:
        return f"did you mean '{by_lower_case[close[0]]}'?"
    return (
        f"recommended are {COLOUR_MAP}, viridis, magma and inferno (sequential) "
        f"and {DIVERGING}, PuOr_r and coolwarm (diverging)"
    )
