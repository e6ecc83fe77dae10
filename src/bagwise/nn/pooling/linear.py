"""Mean and sum pooling: every instance has the same weight 1/K.

    Mean              z = 1/K Σₖ hₖ        of embeddings            (Ilse et al. 2018, eq. 6)
    MeanProbability   θ = 1/K Σₖ pₖ        of instance scores       (Ilse et al. 2018, eq. 6)
    Sum               z = Σₖ hₖ            of embeddings or scores  (Ilse et al. 2018, Theorem 1; Zaheer et al. 2017)

As additive poolings, ``Mean`` and ``Sum`` have exponents of zero, so that V = Σₖ rₖ.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from bagwise.nn.pooling.additive import (
    AdditivePooling,
    Exponents,
    Terms,
    Totals,
    compute_log_means,
    make_equal_shares,
    make_rowless_terms,
    to_float64_values,
)
from bagwise.nn.pooling.base import Pooled, Pooling, PoolingSettings, make_uniform_weights
from bagwise.nn.segments import Offsets, Rows, segment_mean, segment_sum
from bagwise.targets import ClassLikelihood, Likelihood


class Mean(AdditivePooling):
    """Mean pooling of embeddings, z = 1/K Σₖ hₖ (Ilse et al. 2018, eq. 6).

    ``Mean.for_scores`` returns ``MeanProbability`` for classes; other scores are averaged themselves.
    """

    title = "mean"

    @classmethod
    def for_scores(cls, width: int, likelihood: Likelihood, settings: PoolingSettings) -> "Pooling":
        return MeanProbability(likelihood) if isinstance(likelihood, ClassLikelihood) else cls()

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        return Pooled(values=segment_mean(values, offsets), weights=make_uniform_weights(values, offsets))

    def terms(self, values: Rows) -> Terms:
        return make_linear_terms(values)

    def weighted(self, rows: Rows, factors: Exponents, offsets: Offsets) -> Float[Tensor, "bags width"]:
        return sum_rows(rows, offsets)

    def finalize(self, totals: Totals) -> Float[Tensor, "bags width"]:
        return totals.rows / totals.counts

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return make_equal_shares(totals, offsets)


class Sum(AdditivePooling):
    """Sum pooling, z = Σₖ hₖ (Theorem 1 of Ilse et al. 2018, after Zaheer et al. 2017).

    At instance level the score of a bag is the sum of the scores of its instances.
    """

    title = "sum"

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        return Pooled(values=segment_sum(values, offsets), weights=make_uniform_weights(values, offsets))

    def terms(self, values: Rows) -> Terms:
        return make_linear_terms(values)

    def weighted(self, rows: Rows, factors: Exponents, offsets: Offsets) -> Float[Tensor, "bags width"]:
        return sum_rows(rows, offsets)

    def finalize(self, totals: Totals) -> Float[Tensor, "bags width"]:
        return totals.rows

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return make_equal_shares(totals, offsets)


class MeanProbability(AdditivePooling):
    """Mean pooling of instance scores: the score of the mean probability θ = 1/K Σₖ pₖ.

    The mean is computed by log-sum-exp of log-probabilities, which avoids overflow and underflow.

    Parameters
    ----------
    likelihood : ClassLikelihood
        Likelihood that converts scores to probabilities and back.
    """

    title = "mean"

    def __init__(self, likelihood: ClassLikelihood) -> None:
        super().__init__()
        self.likelihood = likelihood

    def terms(self, values: Rows) -> Terms:
        return make_rowless_terms(self.likelihood.log_probabilities(values))

    def finalize(self, totals: Totals) -> Float[Tensor, "bags scores"]:
        return self.likelihood.scores(compute_log_means(totals))

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return make_equal_shares(totals, offsets)


def make_linear_terms(values: Rows) -> Terms:
    """Return terms with zero exponents."""
    return Terms(exponents=torch.zeros_like(values[:, :1]), rows=values)


def sum_rows(rows: Rows, offsets: Offsets) -> Float[Tensor, "bags width"]:
    """Sum the rows of each bag in float64; the general weighted sum in float32 would be less accurate."""
    return segment_sum(to_float64_values(rows), offsets)
