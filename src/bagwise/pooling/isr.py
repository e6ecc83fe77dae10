"""Integrated Segmentation and Recognition (Keeler, Rumelhart & Leow 1991).

    θ = Σₖ pₖ/(1 − pₖ) / (1 + Σₖ pₖ/(1 − pₖ))

The odds of the bag are the sum of the odds of its instances, so its score is the log-sum-exp of their scores. The
weight is an instance's share of the odds, p/(1 − p) normalised, which is the softmax of the scores.
"""

from bagwise import segments
from bagwise.pooling.contract import Pooled, ProbabilityPooling, averaged
from bagwise.segments import Offsets, Rows


class ISR(ProbabilityPooling):
    """The bag's odds are the sum of its instances' odds."""

    title = "ISR"

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        return Pooled(segments.log_sum_exp(values, offsets), averaged(segments.softmax(values, offsets)))
