"""Noisy-or (Maron & Lozano-Pérez 1998): the bag is negative only if every instance is.

    θ = 1 − Πₖ (1 − pₖ)

With T = Σₖ softplus(sₖ) = −Σₖ log(1 − pₖ) the bag's score is log(expm1(T)) = T + log(1 − exp(−T)). T is carried as
log T, so very small scores are not lost. The weight is an instance's share of T, −log(1 − p) normalised.
"""

from jaxtyping import Float
from torch import Tensor

from bagwise.pooling.additive import AdditivePooling, Exponents, Terms, Totals, alone, log_sums
from bagwise.pooling.contract import ProbabilityPooling, averaged
from bagwise.pooling.log_forms import log_one_minus_exp, log_softplus
from bagwise.segments import Offsets, Rows


class NoisyOr(ProbabilityPooling, AdditivePooling):
    """The bag is positive if at least one of its independent instances is."""

    title = "noisy-or"

    def terms(self, values: Rows) -> Terms:
        return alone(log_softplus(values))

    def conclude(self, totals: Totals) -> Float[Tensor, "bags scores"]:
        log_total = log_sums(totals)
        return log_total.exp() + log_one_minus_exp(log_total)

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return averaged(self.shares(exponents, totals, offsets))
