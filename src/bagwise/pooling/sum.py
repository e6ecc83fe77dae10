"""Sum pooling (Theorem 1 of Ilse et al. 2018, after Zaheer et al. 2017).

    z = Σₖ hₖ

On scores it adds the instances' evidence. Every instance weighs 1/K.
"""

from jaxtyping import Float
from torch import Tensor

from bagwise import segments
from bagwise.pooling.additive import Totals
from bagwise.pooling.contract import Pooled, uniform
from bagwise.pooling.linear import LinearPooling
from bagwise.segments import Offsets, Rows


class Sum(LinearPooling):
    """z = sum of the bag's rows."""

    title = "sum"

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        return Pooled(segments.sum(values, offsets), uniform(values, offsets))

    def conclude(self, totals: Totals) -> Float[Tensor, "bags width"]:
        return totals.rows
