"""Max pooling (Ilse et al. 2018, eq. 5): the largest value of each coordinate.

    zₘ = maxₖ hₖₘ

On scores it is the score of the likeliest instance. The weight is the share of coordinates an instance wins.
"""

from bagwise import segments
from bagwise.pooling.contract import Pooled, Pooling, averaged
from bagwise.segments import Offsets, Rows


class Max(Pooling):
    """z = max over the bag, coordinate by coordinate; ties share the weight."""

    title = "max"

    def forward(self, values: Rows, offsets: Offsets) -> Pooled:
        return Pooled(segments.max(values, offsets), averaged(segments.winners(values, offsets)))
