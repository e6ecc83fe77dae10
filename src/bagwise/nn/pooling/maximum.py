"""Max pooling, and log-sum-exp pooling as its smooth approximation.

    Max         zₘ = maxₖ hₖₘ                              (Ilse et al. 2018, eq. 5)
    LogSumExp   zₘ = 1/r log( 1/K Σₖ exp(r hₖₘ) )          (Ramon & De Raedt 2000)

The sharpness r interpolates between the mean (r → 0) and the max (r → ∞).
"""

import torch
from jaxtyping import Float
from torch import Tensor

from bagwise.arguments import check_real_number
from bagwise.nn.pooling.additive import AdditivePooling, Exponents, Terms, Totals, compute_log_means, make_rowless_terms
from bagwise.nn.pooling.base import Pooled, average_heads
from bagwise.nn.segments import Offsets, Rows, segment_argmax, segment_max


class Max(AdditivePooling):
    """Max pooling, zₘ = maxₖ hₖₘ (Ilse et al. 2018, eq. 5).

    At instance level this is the score of the most probable instance. The weight of an instance is the share of columns
    in which it is the maximum; tied instances share a column equally.
    """

    title = "max"

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        return Pooled(values=segment_max(values, offsets), weights=average_heads(segment_argmax(values, offsets)))

    def terms(self, values: Rows) -> Terms:
        return make_rowless_terms(values)

    def exponential(self, differences: Tensor) -> Tensor:
        """Return one for terms at the peak and zero for all others, the limit of infinite sharpness."""
        return torch.where(differences == 0, differences.exp(), 0)

    def finalize(self, totals: Totals) -> Float[Tensor, "bags width"]:
        n_tied = totals.sums.detach()
        return totals.peaks + (totals.sums - n_tied) / n_tied  # adds zero, and splits the gradient among ties

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return average_heads(self.shares(exponents, totals, offsets))


class LogSumExp(AdditivePooling):
    """Log-sum-exp pooling, zₘ = 1/r log( 1/K Σₖ exp(r hₖₘ) ) (Ramon & De Raedt 2000).

    At instance level it is applied to scores, not to probabilities. The weights are softmax(r h), the gradient of z,
    averaged over the columns.

    Parameters
    ----------
    sharpness : float, default=1.0
        Sharpness r > 0; small values approach the mean, large values the maximum.
    """

    title = "log-sum-exp"

    def __init__(self, sharpness: float = 1.0) -> None:
        super().__init__()
        self.sharpness = check_real_number("sharpness", sharpness, above=0)

    def terms(self, values: Rows) -> Terms:
        return make_rowless_terms(self.sharpness * values)

    def finalize(self, totals: Totals) -> Float[Tensor, "bags width"]:
        return compute_log_means(totals) / self.sharpness

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return average_heads(self.shares(exponents, totals, offsets))

    def extra_repr(self) -> str:
        return f"sharpness={self.sharpness}"
