"""Dropout whose masks are a function of (seed, step, layer, row): replayed exactly after a resume or in pieces."""

import torch
from torch import Tensor
from torch.nn import functional

from bagwise import randomness
from bagwise.errors import InputError
from bagwise.places import Placed
from bagwise.randomness import Purpose


class Dropout(Placed):
    """Silence each value with probability p in training, and scale the rest by 1/(1 − p).

    Within ``training`` its masks are counter-based; used in a loop of one's own, it is torch's dropout.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise InputError(f"dropout is {p}; it must be at least 0 and below 1")
        self.p = p

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return values
        if self.place is None:
            return functional.dropout(values, self.p, training=True)
        seed, step, first_row = self.place
        drawn = randomness.bits(seed, Purpose.DROPOUT, (self.layer, step), first_row, (len(values), values[0].numel()))
        kept = torch.from_numpy(drawn >= round(self.p * (1 << 32))).to(values.device).view_as(values)
        return values * kept / (1 - self.p)

    def extra_repr(self) -> str:
        return f"p={self.p}"
