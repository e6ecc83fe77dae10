"""Where the tiles of a bag lie."""

from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError


class Tiles(NamedTuple):
    """The tiles of a bag, all of one size."""

    positions: np.ndarray  # (n, 2) x and y of their upper left corners in level-0 pixels
    size: float  # of a side, in level-0 pixels


def tiles_of(bag: Bags) -> Tiles:
    """The tiles of a single bag, which must have positions and a tile size."""
    if len(bag) != 1:
        raise InputError(f"a map is drawn of one bag, not of {len(bag)}; take one: bags[[number]]")
    if bag.positions is None:
        raise InputError(
            f"bag '{bag.name(0)}' has no positions, so there is no map of it; import it with its positions"
        )
    if bag.tile_sizes is None:
        raise InputError(
            f"bag '{bag.name(0)}' has positions and no tile size; import its features again with --patches FOLDER"
        )
    return Tiles(bag.positions, float(bag.tile_sizes[0]))
