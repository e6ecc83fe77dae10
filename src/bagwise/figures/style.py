"""How figures look: colours for every eye, legible on white and on black, and nothing of a user's own matplotlibrc."""

import contextlib
from collections.abc import Iterator
from typing import Any

import matplotlib
from matplotlib.axes import Axes

# Okabe & Ito (2008), without those too light for white paper; the first two are the furthest apart for every eye
BLUE, VERMILLION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
SERIES = (BLUE, VERMILLION, GREEN, PURPLE)
DASHES = ("-", "--", ":", "-.")
MOST_IN_LEGEND = 10
COLOUR_MAP = "cividis"
INK = "#5b6470"  # text and axes; ``svg_text`` turns it into the page's own colour
FAINT = "#8b949e"

LOOK: Any = {
    "text.color": INK,
    "text.parse_math": False,  # names come from the data: a dollar sign in one is not mathematics
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
def styled() -> Iterator[None]:
    """Make figures in the house style within this block, whatever the user's own settings."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        with matplotlib.rc_context(LOOK):
            yield


def line_style(number: int) -> dict[str, Any]:
    """Colour and dashes of the line of that number; sixteen lines can be told apart."""
    return {"color": SERIES[number % len(SERIES)], "linestyle": DASHES[number // len(SERIES) % len(DASHES)]}


def unit_square(axes: Axes, across: str, up: str) -> None:
    """Axes of two shares, each from zero to one, drawn square with a faint grid."""
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=across, ylabel=up, aspect="equal")
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    grid(axes)


def grid(axes: Axes) -> None:
    """A faint grid behind everything."""
    axes.grid(color=FAINT, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)


def shortened(words: str, longest: int = 14) -> str:
    """Words cut in the middle, because names of one kind often differ at their end.

    >>> shortened("carcinoma, ductal, grade 3")
    'carcinom…ade 3'
    """
    return words if len(words) <= longest else f"{words[: longest - 6]}…{words[-5:]}"


def legend(axes: Axes, **options: Any) -> None:
    """A legend whose words are taken as they are; above the axes, where it hides nothing, unless told otherwise."""
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2, "columnspacing": 1.2}
    for text in axes.legend(**(options or above)).get_texts():
        text.set_parse_math(False)
