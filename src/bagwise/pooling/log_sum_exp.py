"""Log-sum-exp pooling, a smooth maximum (Ramon & De Raedt 2000).

    zₘ = 1/r log( 1/K Σₖ exp(r hₖₘ) )

The sharpness r leads from the mean (r → 0) to the max (r → ∞). On scores it pools the scores themselves, so the
result is a score again. The weight is softmax(r h), the gradient of z, averaged over the coordinates.
"""

from jaxtyping import Float
from torch import Tensor

from bagwise.pooling.additive import AdditivePooling, Exponents, Terms, Totals, alone, log_means
from bagwise.pooling.contract import averaged
from bagwise.quantities import real_number
from bagwise.segments import Offsets, Rows


class LogSumExp(AdditivePooling):
    """z = log of the mean exponential, with sharpness r."""

    title = "log-sum-exp"

    def __init__(self, sharpness: float = 1.0) -> None:
        super().__init__()
        self.sharpness = real_number("sharpness", sharpness, above=0)

    def terms(self, values: Rows) -> Terms:
        return alone(self.sharpness * values)

    def conclude(self, totals: Totals) -> Float[Tensor, "bags width"]:
        return log_means(totals) / self.sharpness

    def weigh(self, exponents: Exponents, totals: Totals, offsets: Offsets) -> Float[Tensor, "instances 1"]:
        return averaged(self.shares(exponents, totals, offsets))

    def extra_repr(self) -> str:
        return f"sharpness={self.sharpness}"
