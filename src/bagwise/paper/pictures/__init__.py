"""The pictures of the paper, drawn anew: bags of digits with their weights, and heatmaps of colon images.

Models are trained once and kept beside the pictures; the arrays behind every picture are kept too. Which bags are shown
follows from their labels and sizes alone, never from how well they came out.
"""

from collections.abc import Callable
from pathlib import Path

from bagwise.paper.pictures.digits import draw_digits
from bagwise.paper.pictures.tissue import draw_tissue


def draw_pictures(
    folder: str | Path, *, quick: bool = False, progress: Callable[[int, int], None] = lambda done, of: None
) -> list[Path]:
    """Draw all pictures into a folder, and say where they are; quick: after two epochs, to try it."""
    made: list[Path] = []
    parts = (draw_digits, draw_tissue)
    for number, draw in enumerate(parts):
        progress(number, len(parts))
        made += draw(Path(folder), quick)
    progress(len(parts), len(parts))
    return made


__all__ = ["draw_pictures"]
