"""Dropout whose masks are a function of (seed, step, layer, use, row): replayed exactly after a resume or in pieces."""

import torch
from torch import Tensor
from torch.nn import functional

from bagwise import randomness
from bagwise.places import Placed
from bagwise.quantities import real_number
from bagwise.randomness import Purpose


class Dropout(Placed):
    """Silence each value with probability p in training, and scale the rest by 1/(1 − p).

    Within ``training`` its masks are counter-based; used in a loop of one's own, it is torch's dropout. A module that
    stands in several places of a network has a mask for each use; hence no pass of a step may be computed again (as
    activation checkpointing does).
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = real_number("dropout", p, least=0, below=1)

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return values
        if self.place is None:
            return functional.dropout(values, self.p, training=True)
        seed, step, first_row = self.place
        place = (self.layer, step, self.count_use())
        drawn = randomness.bits(seed, Purpose.DROPOUT, place, first_row, (len(values), values[0].numel()))
        kept = torch.from_numpy(drawn >= round(self.p * (1 << 32)))
        return values * (kept.to(values.device, values.dtype) / (1 - self.p)).view_as(values)

    def extra_repr(self) -> str:
        return f"p={self.p}"
