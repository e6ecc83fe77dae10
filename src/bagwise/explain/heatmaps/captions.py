"""The words on a map: what it shows, of which class, on which scale, and a bar that says what the colours stand for."""

import textwrap
import warnings
from typing import NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bagwise import figures
from bagwise.explain.heatmaps.colours import Colouring, coloured
from bagwise.explain.heatmaps.scales import Scaled

NARROWEST = 420  # pixels; a smaller picture gets white beside it, so that its caption can be read
USUAL = 1000  # pixels of width at which letters have their usual size; they grow with wider pictures
DOTS = 100  # an inch, there
LETTER, LINE, BAR = 0.075, 0.2, 0.5  # inches: of a letter's width, a line's height, the bar with its numbers
MARGIN = 0.1


class Caption(NamedTuple):
    """What stands below a map."""

    what: str  # "attention weight"
    class_name: str | None  # None where the value is of no class
    scaled: Scaled

    def __str__(self) -> str:
        of_class = () if self.class_name is None else (f"class {self.class_name}",)
        return ", ".join((self.what, self.scaled.words, *of_class))


def captioned(picture: np.ndarray, caption: Caption, colours: Colouring) -> np.ndarray:
    """The picture, pixel by pixel, with its caption and a colour bar below."""
    width = max(picture.shape[1], NARROWEST)
    beside = np.full((picture.shape[0], width - picture.shape[1], 3), 255, np.uint8)
    return np.concatenate([np.concatenate([picture, beside], axis=1), _strip(width, caption, colours)])


def _strip(width: int, caption: Caption, colours: Colouring) -> np.ndarray:
    """The caption and the bar as (height, width, 3) bytes."""
    dots = DOTS * max(1.0, width / USUAL)
    across = width / dots
    lines = textwrap.wrap(str(caption), int((across - 2 * MARGIN) / LETTER))
    height = round((len(lines) * LINE + BAR + 2 * MARGIN) * dots)
    with figures.styled(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # a box is drawn instead
        figure = Figure(figsize=(across, height / dots), dpi=dots, facecolor="white")
        figure.text(MARGIN / across, 1 - MARGIN * dots / height, "\n".join(lines), va="top", color="black")
        _draw_bar(figure, across, height / dots, caption.scaled, colours)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    drawn = np.asarray(canvas.buffer_rgba())[..., :3]
    strip = np.full((height, width, 3), 255, np.uint8)  # the canvas may have a pixel less or more
    part = drawn[:height, :width]
    strip[: part.shape[0], : part.shape[1]] = part
    return strip


def _draw_bar(figure: Figure, across: float, up: float, scaled: Scaled, colours: Colouring) -> None:
    """All colours, with the values that the ends stand for, and zero in the middle of signed ones."""
    wide = min(across - 2 * MARGIN, 3.5)
    axes = figure.add_axes((MARGIN / across, (MARGIN + 0.2) / up, wide / across, 0.16 / up))
    steps = np.linspace(colours.lowest, 1, 257)
    axes.imshow(coloured(steps[None], colours), extent=(colours.lowest, 1, 0, 1), aspect="auto")
    ticks = {colours.lowest: f"{scaled.low:.3g}", 1.0: f"{scaled.high:.3g}"} | ({0.0: "0"} if colours.signed else {})
    axes.set_xticks(list(ticks), list(ticks.values()), color="black")
    first, last, *_ = axes.get_xticklabels()
    first.set_horizontalalignment("left")  # within the picture, however long the numbers are
    last.set_horizontalalignment("right")
    axes.set_yticks([])
    axes.tick_params(length=2)
