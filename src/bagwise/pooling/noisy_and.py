"""Noisy-and (Kraus, Ba & Frey 2016): the bag turns positive when enough of its instances are.

    θ = ( σ(a(p̄ − b)) − σ(−ab) ) / ( σ(a(1 − b)) − σ(−ab) )        p̄ = 1/K Σₖ pₖ

The slope a is given, the threshold b is learned for each class. The paper reads b as a share of instances; nothing
holds it between 0 and 1 in training. Beyond them θ still rises with p̄ from 0 to 1, only with no bend left between: the
score stays exact and finite, but b is then no share. With q̄ = 1 − p̄ and G(x) = log(1 − exp(−a x)) the
score is exactly

    logit θ = a(p̄ − b) + log σ(ab) − log σ(a(1 − b)) + G(p̄) − G(q̄)

where p̄ and q̄ are carried as logarithms, so saturated instances lose nothing. Every instance weighs 1/K.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from bagwise.pooling.additive import AdditivePooling, Exponents, Terms, Totals, alone, equal_shares, log_means
from bagwise.pooling.contract import ProbabilityPooling
from bagwise.pooling.log_forms import log_one_minus_exp
from bagwise.quantities import real_number, whole_number
from bagwise.segments import Offsets, Rows


class NoisyAnd(ProbabilityPooling, AdditivePooling):
    """A soft threshold on the share of positive instances."""

    title = "noisy-and"

    def __init__(self, slope: float = 10.0, n_classes: int = 1) -> None:
        super().__init__()
        self.slope = real_number("slope", slope, above=0)
        self.threshold = nn.Parameter(torch.full((whole_number("n_classes", n_classes, least=1),), 0.5))

    def terms(self, values: Rows) -> Terms:
        return alone(functional.logsigmoid(torch.cat([values, -values], dim=1)))

    def conclude(self, totals: Totals) -> Float[Tensor, "bags scores"]:
        a, b = self.slope, self.threshold
        log_present, log_absent = log_means(totals).chunk(2, dim=1)
        ends = functional.logsigmoid(a * b) - functional.logsigmoid(a * (1 - b))
        reach = log_one_minus_exp(log_present + math.log(a)) - log_one_minus_exp(log_absent + math.log(a))
        return a * (log_present.exp() - b) + ends + reach

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return equal_shares(totals, offsets)

    def extra_repr(self) -> str:
        return f"slope={self.slope}"
