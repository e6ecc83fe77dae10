"""The caption below a map: layer, scale and output, with a colour bar and the values at its ends."""

import textwrap
import warnings
from typing import NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bagwise.explain.heatmaps.scales import ColourMap, Scaled, apply_colours
from bagwise.figures import use_style

MIN_WIDTH = 420  # pixels; a narrower picture is padded with white, so that the caption is readable
NOMINAL_WIDTH = 1000  # pixels; in wider pictures the text is larger in proportion
NOMINAL_DPI = 100
LETTER_WIDTH, LINE_HEIGHT, BAR_HEIGHT, MARGIN = (
    0.075,
    0.2,
    0.5,
    0.1,
)  # inches; BAR_HEIGHT includes the tick labels


class Caption(NamedTuple):
    """The text below a map, and the scale of its colour bar."""

    layer: str  # for example "weight"
    output: str | None  # such as "class tumour"; None if the values belong to no output
    scaled: Scaled

    def __str__(self) -> str:
        of_output = () if self.output is None else (self.output,)
        return ", ".join((self.layer, self.scaled.caption, *of_output))


def add_caption(picture: np.ndarray, caption: Caption, colours: ColourMap) -> np.ndarray:
    """Return the picture with its caption and a colour bar below; the pixels of the picture are unchanged."""
    width = max(picture.shape[1], MIN_WIDTH)
    padding = np.full((picture.shape[0], width - picture.shape[1], 3), 255, np.uint8)
    return np.concatenate([np.concatenate([picture, padding], axis=1), _render_caption(width, caption, colours)])


def _render_caption(width: int, caption: Caption, colours: ColourMap) -> np.ndarray:
    """Render the caption and the colour bar as (height, width, 3) uint8."""
    dpi = NOMINAL_DPI * max(1.0, width / NOMINAL_WIDTH)
    inches = width / dpi
    lines = textwrap.wrap(str(caption), int((inches - 2 * MARGIN) / LETTER_WIDTH))
    height = round((len(lines) * LINE_HEIGHT + BAR_HEIGHT + 2 * MARGIN) * dpi)
    with use_style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # a box is drawn instead
        figure = Figure(figsize=(inches, height / dpi), dpi=dpi, facecolor="white")
        figure.text(MARGIN / inches, 1 - MARGIN * dpi / height, "\n".join(lines), va="top", color="black")
        _add_colour_bar(figure, (inches, height / dpi), caption.scaled, colours)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    rendered = np.asarray(canvas.buffer_rgba())[:height, :width, :3]
    result = np.full((height, width, 3), 255, np.uint8)  # the canvas may be a pixel smaller or larger
    result[: rendered.shape[0], : rendered.shape[1]] = rendered
    return result


def _add_colour_bar(figure: Figure, inches: tuple[float, float], scaled: Scaled, colours: ColourMap) -> None:
    """Add a colour bar, with the values at its ends, and zero in the middle if the values are signed."""
    width, height = inches
    bar = min(width - 2 * MARGIN, 3.5)
    axes = figure.add_axes((MARGIN / width, (MARGIN + 0.2) / height, bar / width, 0.16 / height))
    steps = np.linspace(colours.lowest, 1, 257)
    axes.imshow(apply_colours(steps[None], colours), extent=(colours.lowest, 1, 0, 1), aspect="auto")
    ticks = {colours.lowest: f"{scaled.low:.3g}", 1.0: f"{scaled.high:.3g}"} | ({0.0: "0"} if colours.signed else {})
    axes.set_xticks(list(ticks), list(ticks.values()), color="black")
    first, last, *_ = axes.get_xticklabels()
    first.set_horizontalalignment("left")  # keeps long numbers inside the picture
    last.set_horizontalalignment("right")
    axes.set_yticks([])
    axes.tick_params(length=2)
