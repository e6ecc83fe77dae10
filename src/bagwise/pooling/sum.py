"""Sum pooling (Theorem 1 of Ilse et al. 2018, after Zaheer et al. 2017).

    z = Σₖ hₖ

On scores it adds the instances' evidence. Every instance weighs 1/K.
"""

from bagwise import segments
from bagwise.pooling.contract import Pooled, Pooling, uniform
from bagwise.segments import Offsets, Rows


class Sum(Pooling):
    """z = sum of the bag's rows."""

    title = "sum"

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        return Pooled(segments.sum(values, offsets), uniform(values, offsets))
