"""Attention pooling (Ilse et al. 2018, eq. 8).

z = Σₖ aₖ hₖ        a = softmax(wᵀ tanh(V hᵀ))
"""

from jaxtyping import Float
from torch import Tensor, nn

from bagwise.pooling.attending import AttentionPooling
from bagwise.segments import Rows


class Attention(AttentionPooling):
    """Eq. 8: wᵀ tanh(V hᵀ)."""

    title = "attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.V = nn.Linear(width, attention_width, bias=False)
        self.w = nn.Linear(attention_width, heads, bias=False)

    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        return self.w(self.V(embeddings).tanh_())
