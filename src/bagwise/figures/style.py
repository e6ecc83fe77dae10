"""The style of figures: colour-blind safe, legible on white and black, and independent of the user's matplotlibrc."""

import contextlib
from collections.abc import Iterator
from typing import Any

import matplotlib
from matplotlib.axes import Axes

# Okabe & Ito (2008), without the colours too light for white paper; the first two are the easiest to distinguish
BLUE, VERMILLION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
SERIES = (BLUE, VERMILLION, GREEN, PURPLE)
DASHES = ("-", "--", ":", "-.")
COLOUR_MAP = "cividis"
INK = "#5b6470"  # text and axes; figure_to_svg replaces it with the text colour of the page
FAINT = "#8b949e"
MAX_LEGEND_ENTRIES = 10

RC_PARAMETERS: Any = {
    "text.color": INK,
    "text.parse_math": False,  # names come from the data and may contain dollar signs
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "lines.linewidth": 2.0,
    "font.size": 9.0,
    "legend.fontsize": 8.5,
    "svg.fonttype": "none",
}


@contextlib.contextmanager
def use_style() -> Iterator[None]:
    """Apply the style of bagwise to figures made in the block, regardless of the user's settings."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        with matplotlib.rc_context(RC_PARAMETERS):
            yield


def get_line_style(number: int) -> dict[str, Any]:
    """Return the colour and line style of a line; there are sixteen combinations."""
    return {"color": SERIES[number % len(SERIES)], "linestyle": DASHES[number // len(SERIES) % len(DASHES)]}


def set_unit_square(axes: Axes, x_label: str, y_label: str) -> None:
    """Set the limits of both axes to zero and one, with equal scales and a grid."""
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=x_label, ylabel=y_label, aspect="equal")
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    add_grid(axes)


def add_grid(axes: Axes) -> None:
    """Add a faint grid behind all other elements."""
    axes.grid(color=FAINT, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)


def add_legend(axes: Axes, **options: Any) -> None:
    """Add a legend whose text is not parsed as mathematics; it is above the axes unless options are given."""
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2, "columnspacing": 1.2}
    for text in axes.legend(**(options or above)).get_texts():
        text.set_parse_math(False)


def shorten_text(text: str, max_length: int = 14) -> str:
    """Shorten a text in the middle, because similar names often differ at the end.

    Parameters
    ----------
    text : str
        Text to shorten.
    max_length : int, default=14
        Maximum number of characters.

    Returns
    -------
    str
        Text of at most ``max_length`` characters.

    Examples
    --------
    >>> shorten_text("carcinoma, ductal, grade 3")
    'carcinom…ade 3'
    """
    return text if len(text) <= max_length else f"{text[: max_length - 6]}…{text[-5:]}"
