"""Mean pooling (Ilse et al. 2018, eq. 6).

    embeddings   z = 1/K Σₖ hₖ
    scores       θ = 1/K Σₖ pₖ

On scores it is the mean of the instances' PROBABILITIES, computed through log-probabilities and log-sum-exp so that
nothing overflows. Every instance weighs 1/K.
"""

from jaxtyping import Float
from torch import Tensor

from bagwise import segments
from bagwise.likelihoods import Likelihood
from bagwise.pooling.additive import AdditivePooling, Exponents, Terms, Totals, alone, equal_shares, log_means
from bagwise.pooling.contract import Pooled, Settings, uniform
from bagwise.pooling.linear import LinearPooling
from bagwise.segments import Offsets, Rows


class Mean(LinearPooling):
    """z = mean of the bag's embeddings."""

    title = "mean"

    @classmethod
    def for_scores(cls, width: int, likelihood: Likelihood, settings: Settings) -> "MeanProbability":
        return MeanProbability(likelihood)

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        return Pooled(segments.mean(values, offsets), uniform(values, offsets))

    def conclude(self, totals: Totals) -> Float[Tensor, "bags width"]:
        return totals.rows / totals.counts


class MeanProbability(AdditivePooling):
    """The score of the mean probability of the bag's instances."""

    title = "mean"

    def __init__(self, likelihood: Likelihood) -> None:
        super().__init__()
        self.likelihood = likelihood

    def terms(self, values: Rows) -> Terms:
        return alone(self.likelihood.log_probabilities(values))

    def conclude(self, totals: Totals) -> Float[Tensor, "bags scores"]:
        return self.likelihood.scores(log_means(totals))

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return equal_shares(totals, offsets)
