"""Mean pooling (Ilse et al. 2018, eq. 6).

    embeddings   z = 1/K Σₖ hₖ
    scores       θ = 1/K Σₖ pₖ

On scores it is the mean of the instances' PROBABILITIES, computed through log-probabilities and log-sum-exp so that
nothing overflows. Every instance weighs 1/K.
"""

from bagwise import segments
from bagwise.likelihoods import Likelihood
from bagwise.pooling.contract import Pooled, Pooling, Settings, uniform
from bagwise.segments import Offsets, Rows


class Mean(Pooling):
    """z = mean of the bag's embeddings."""

    title = "mean"

    @classmethod
    def for_scores(cls, width: int, likelihood: Likelihood, settings: Settings) -> "MeanProbability":
        return MeanProbability(likelihood)

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        return Pooled(segments.mean(values, offsets), uniform(values, offsets))


class MeanProbability(Pooling):
    """The score of the mean probability of the bag's instances."""

    title = "mean"

    def __init__(self, likelihood: Likelihood) -> None:
        super().__init__()
        self.likelihood = likelihood

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        summed = segments.log_sum_exp(self.likelihood.log_probabilities(values), offsets)
        means = summed - segments.sizes(offsets).to(values.dtype).log()[:, None]
        return Pooled(self.likelihood.scores(means), uniform(values, offsets))
