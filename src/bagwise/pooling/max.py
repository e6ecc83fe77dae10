"""Max pooling (Ilse et al. 2018, eq. 5): the largest value of each coordinate.

    zₘ = maxₖ hₖₘ

On scores it is the score of the likeliest instance. The weight is the share of coordinates an instance wins.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from bagwise import segments
from bagwise.pooling.additive import AdditivePooling, Exponents, Terms, Totals, alone
from bagwise.pooling.contract import Pooled, averaged
from bagwise.segments import Offsets, Rows


class Max(AdditivePooling):
    """z = max over the bag, coordinate by coordinate; ties share the weight."""

    title = "max"

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        return Pooled(segments.max(values, offsets), averaged(segments.winners(values, offsets)))

    def terms(self, values: Rows) -> Terms:
        return alone(values)

    def exponential(self, differences: Tensor) -> Tensor:
        """Max is log-sum-exp of infinite sharpness: only the terms at the peak count."""
        return torch.where(differences == 0, differences.exp(), 0)

    def conclude(self, totals: Totals) -> Float[Tensor, "bags width"]:
        winners = totals.sums.detach()
        return totals.peaks + (totals.sums - winners) / winners  # the peak; its gradient is split among the winners

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return averaged(self.shares(exponents, totals, offsets))
