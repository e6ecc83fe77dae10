"""Integrated Segmentation and Recognition (Keeler, Rumelhart & Leow 1991).

    θ = Σₖ pₖ/(1 − pₖ) / (1 + Σₖ pₖ/(1 − pₖ))

The odds of the bag are the sum of the odds of its instances, so its score is the log-sum-exp of their scores. The
weight is an instance's share of the odds, p/(1 − p) normalised, which is the softmax of the scores.
"""

from jaxtyping import Float
from torch import Tensor

from bagwise.pooling.additive import AdditivePooling, Exponents, Terms, Totals, alone, log_sums
from bagwise.pooling.contract import ProbabilityPooling, averaged
from bagwise.segments import Offsets, Rows


class ISR(ProbabilityPooling, AdditivePooling):
    """The bag's odds are the sum of its instances' odds."""

    title = "ISR"

    def terms(self, values: Rows) -> Terms:
        return alone(values)

    def conclude(self, totals: Totals) -> Float[Tensor, "bags scores"]:
        return log_sums(totals)

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return averaged(self.shares(exponents, totals, offsets))
