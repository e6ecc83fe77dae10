"""Log-sum-exp pooling, a smooth maximum (Ramon & De Raedt 2000).

    zₘ = 1/r log( 1/K Σₖ exp(r hₖₘ) )

The sharpness r leads from the mean (r → 0) to the max (r → ∞). On scores it pools the scores themselves, so the
result is a score again. The weight is softmax(r h), the gradient of z, averaged over the coordinates.
"""

from bagwise import segments
from bagwise.pooling.contract import Pooled, Pooling, averaged
from bagwise.quantities import real_number
from bagwise.segments import Offsets, Rows


class LogSumExp(Pooling):
    """z = log of the mean exponential, with sharpness r."""

    title = "log-sum-exp"

    def __init__(self, sharpness: float = 1.0) -> None:
        super().__init__()
        self.sharpness = real_number("sharpness", sharpness, above=0)

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        sharpened = self.sharpness * values
        sizes = segments.sizes(offsets).to(values.dtype)[:, None]
        pooled = (segments.log_sum_exp(sharpened, offsets) - sizes.log()) / self.sharpness
        return Pooled(pooled, averaged(segments.softmax(sharpened, offsets)))

    def extra_repr(self) -> str:
        return f"sharpness={self.sharpness}"
