"""Attention by the dot product with a learned query (as in Qi et al. 2017), which the paper is set against.

z = Σₖ aₖ hₖ        a = softmax(qᵀ K h / √L)
"""

import math

from jaxtyping import Float
from torch import Tensor, nn

from bagwise.pooling.attending import AttentionPooling
from bagwise.segments import Rows


class DotProductAttention(AttentionPooling):
    """qᵀ K h / √L: the scaled dot product of each embedding's key with a learned query."""

    title = "dot-product attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.K = nn.Linear(width, attention_width, bias=False)
        self.query = nn.Linear(attention_width, heads, bias=False)

    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        return self.query(self.K(embeddings)) / math.sqrt(self.K.out_features)
