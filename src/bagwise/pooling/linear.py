"""Poolings in which every instance counts the same: all exponents are zero, and what is left is Σₖ rₖ."""

import torch
from jaxtyping import Float
from torch import Tensor

from bagwise import segments
from bagwise.pooling.additive import AdditivePooling, Exponents, Terms, Totals, equal_shares, wide
from bagwise.segments import Offsets, Rows


class LinearPooling(AdditivePooling):
    """Base of mean and sum."""

    def terms(self, values: Rows) -> Terms:
        return Terms(torch.zeros_like(values[:, :1]), values)

    def weighted(self, rows: Rows, factors: Exponents, offsets: Offsets) -> Float[Tensor, "bags width"]:
        return segments.sum(wide(rows), offsets)  # a product with ones would lose digits

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return equal_shares(totals, offsets)
