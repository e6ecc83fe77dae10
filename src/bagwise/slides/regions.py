"""What becomes a bag: a whole slide, or squares of it, for slides that hold more than one thing to label.

NAME          all tiles of a slide
NAME@X-Y      the tiles whose upper left corner lies in the square at (X, Y), in level-0 pixels
"""

from typing import NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.slides.tile_files import TileFile


class Region(NamedTuple):
    """A bag to be: its name, and the tiles of its slide that belong to it."""

    name: str
    rows: slice | np.ndarray


def regions(entry: TileFile, side: int | None = None) -> list[Region]:
    """The regions of a slide that have tiles, row by row; without a side, the slide itself."""
    if side is None:
        return [Region(entry.name, slice(None))]  # not read into memory, as numbers of rows would be
    if side < entry.extent:
        raise InputError(
            f"regions are {side} and tiles of {entry.path} {entry.extent} level-0 pixels wide; "
            f"pass --regions {entry.extent} or more"
        )
    squares = entry.positions // side
    corners, owners = np.unique(squares[:, ::-1], axis=0, return_inverse=True)
    return [
        Region(f"{entry.name}@{x * side}-{y * side}", np.flatnonzero(owners.ravel() == number))
        for number, (y, x) in enumerate(corners.tolist())
    ]
