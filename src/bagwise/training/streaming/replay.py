"""A batch that can be read several times, piece by piece, with the same random draws each time.

Dropout and augmentation draw by their place in the run, so a piece draws what the whole batch would have drawn for its
rows. Modules of others draw from torch's generator: it is set anew for each piece.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from bagwise.bags import Bags
from bagwise.models import BagModel
from bagwise.places import Place, drawing, set_place
from bagwise.training.streaming.pieces import Piece, pieces

SEEDS = 1 << 62


@dataclass
class Replay:
    """The chosen bags in pieces of at most so many rows."""

    model: BagModel
    bags: Bags
    chosen: np.ndarray
    device: torch.device
    most: int
    place: Place | None = field(init=False)  # of the run
    seed: int = field(init=False)  # of the draws of others

    def __post_init__(self) -> None:
        self.place = next((module.place for module in drawing(self.model)), None)
        self.seed = int(torch.randint(SEEDS, ()))

    def __iter__(self) -> Iterator[Piece]:
        with torch.random.fork_rng([self.device] if self.device.type == "cuda" else []):
            for piece in pieces(self.bags, self.chosen, self.most):
                torch.manual_seed(self.seed + piece.first_row)
                set_place(self.model, self._place_of(piece))
                yield piece
        set_place(self.model, self.place)

    def _place_of(self, piece: Piece) -> Place | None:
        return self.place and self.place._replace(first_row=self.place.first_row + piece.first_row)
