"""Noisy-or (Maron & Lozano-Pérez 1998): the bag is negative only if every instance is.

    θ = 1 − Πₖ (1 − pₖ)

With T = Σₖ softplus(sₖ) = −Σₖ log(1 − pₖ) the bag's score is log(expm1(T)) = T + log(1 − exp(−T)). T is carried as
log T, so very small scores are not lost. The weight is an instance's share of T, −log(1 − p) normalised.
"""

from bagwise import segments
from bagwise.pooling.contract import Pooled, ProbabilityPooling, averaged
from bagwise.pooling.log_forms import log_one_minus_exp, log_softplus
from bagwise.segments import Offsets, Rows


class NoisyOr(ProbabilityPooling):
    """The bag is positive if at least one of its independent instances is."""

    title = "noisy-or"

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        parts = log_softplus(values)
        log_total = segments.log_sum_exp(parts, offsets)
        pooled = log_total.exp() + log_one_minus_exp(log_total)
        return Pooled(pooled, averaged(segments.softmax(parts, offsets)))
