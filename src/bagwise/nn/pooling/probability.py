"""Poolings of the probabilities pₖ that instances are positive, for instance level and two classes.

    ISR        θ = Σₖ oₖ / (1 + Σₖ oₖ),   oₖ = pₖ/(1 − pₖ)                          (Keeler, Rumelhart & Leow 1991)
    NoisyOr    θ = 1 − Πₖ (1 − pₖ)                                                  (Maron & Lozano-Pérez 1998)
    NoisyAnd   θ = ( σ(a(p̄ − b)) − σ(−ab) ) / ( σ(a(1 − b)) − σ(−ab) ),  p̄ = 1/K Σₖ pₖ   (Kraus, Ba & Frey 2016)

All are computed from scores in the log domain, which is exact where the formulas above underflow.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from bagwise.arguments import check_real_number, check_whole_number
from bagwise.nn.pooling.additive import (
    AdditivePooling,
    Exponents,
    Terms,
    Totals,
    compute_log_means,
    compute_log_sums,
    make_equal_shares,
    make_rowless_terms,
)
from bagwise.nn.pooling.base import ProbabilityPooling, average_heads
from bagwise.nn.segments import Offsets, Rows

SMALL = -18.0  # for arguments below exp(SMALL), the first-order series is exact in float64


class ISR(ProbabilityPooling, AdditivePooling):
    """Integrated Segmentation and Recognition (Keeler, Rumelhart & Leow 1991).

        θ = Σₖ pₖ/(1 − pₖ) / (1 + Σₖ pₖ/(1 − pₖ))

    The odds of a bag are the sum of the odds of its instances, so its score is the log-sum-exp of their scores. The
    weight of an instance is its share of the odds p/(1 − p), which equals the softmax of the scores.
    """

    title = "ISR"

    def terms(self, values: Rows) -> Terms:
        return make_rowless_terms(values)

    def finalize(self, totals: Totals) -> Float[Tensor, "bags scores"]:
        return compute_log_sums(totals)

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return average_heads(self.shares(exponents, totals, offsets))


class NoisyOr(ProbabilityPooling, AdditivePooling):
    """Noisy-or: the bag is positive if at least one of its independent instances is (Maron & Lozano-Pérez 1998).

        θ = 1 − Πₖ (1 − pₖ)

    With T = Σₖ softplus(sₖ) = −Σₖ log(1 − pₖ), the score of the bag is log(expm1(T)) = T + log(1 − exp(−T)). T is
    computed as log T, so that very small probabilities do not underflow. The weight of an instance is its share of T,
    −log(1 − pₖ) / T.
    """

    title = "noisy-or"

    def terms(self, values: Rows) -> Terms:
        return make_rowless_terms(log_softplus(values))

    def finalize(self, totals: Totals) -> Float[Tensor, "bags scores"]:
        log_total = compute_log_sums(totals)
        return log_total.exp() + log_one_minus_exp(log_total)

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return average_heads(self.shares(exponents, totals, offsets))


class NoisyAnd(ProbabilityPooling, AdditivePooling):
    """Noisy-and: the bag is positive if enough of its instances are (Kraus, Ba & Frey 2016).

        θ = ( σ(a(p̄ − b)) − σ(−ab) ) / ( σ(a(1 − b)) − σ(−ab) )        p̄ = 1/K Σₖ pₖ

    The slope a is fixed; the threshold b is learned for each class. The paper interprets b as a share of instances, but
    b is not constrained to the interval from 0 to 1 during training. Outside this interval θ still increases with p̄
    from 0 to 1, but without an inflection point. The score remains exact and finite, but b is no longer a share. With
    q̄ = 1 − p̄ and G(x) = log(1 − exp(−a x)), the score is

        logit θ = a(p̄ − b) + log σ(ab) − log σ(a(1 − b)) + G(p̄) − G(q̄)

    where p̄ and q̄ are computed as logarithms, so that probabilities close to 0 or 1 lose no precision. Every instance
    has the weight 1/K.

    Parameters
    ----------
    slope : float, default=10.0
        Slope a > 0.
    n_classes : int, default=1
        Number of classes, each with its own threshold b.

    Attributes
    ----------
    threshold : nn.Parameter of shape (n_classes,)
        Thresholds b; 0.5 before training.
    """

    title = "noisy-and"

    def __init__(self, slope: float = 10.0, n_classes: int = 1) -> None:
        super().__init__()
        self.slope = check_real_number("slope", slope, above=0)
        self.threshold = nn.Parameter(torch.full((check_whole_number("n_classes", n_classes, minimum=1),), 0.5))

    def terms(self, values: Rows) -> Terms:
        return make_rowless_terms(functional.logsigmoid(torch.cat([values, -values], dim=1)))

    def finalize(self, totals: Totals) -> Float[Tensor, "bags scores"]:
        a, b = self.slope, self.threshold
        log_positive, log_negative = compute_log_means(totals).chunk(2, dim=1)  # log p̄, log q̄
        normalization = functional.logsigmoid(a * b) - functional.logsigmoid(a * (1 - b))
        saturation = log_one_minus_exp(log_positive + math.log(a)) - log_one_minus_exp(log_negative + math.log(a))
        return a * (log_positive.exp() - b) + normalization + saturation

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return make_equal_shares(totals, offsets)

    def extra_repr(self) -> str:
        return f"slope={self.slope}"


def log_softplus(scores: Tensor) -> Tensor:
    """Compute log(softplus(s)), by the series s − exp(s)/2 for very negative s.

    >>> log_softplus(torch.tensor([-1000.0]))
    tensor([-1000.])
    """
    low, high = scores.clamp(max=SMALL), scores.clamp(min=SMALL)  # avoids NaN gradients in the unused branch
    return torch.where(scores < SMALL, low - low.exp() / 2, (-functional.logsigmoid(-high)).log())


def log_one_minus_exp(log_y: Tensor) -> Tensor:
    """Compute log(1 − exp(−y)) from log y, by the series log y − y/2 for small y.

    >>> log_one_minus_exp(torch.tensor([-1000.0]))
    tensor([-1000.])
    """
    low, y = log_y.clamp(max=SMALL), log_y.clamp(min=SMALL).exp()
    return torch.where(log_y < SMALL, low - low.exp() / 2, (-torch.expm1(-y)).log())
