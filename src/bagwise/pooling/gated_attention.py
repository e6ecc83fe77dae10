"""Gated attention pooling (Ilse et al. 2018, eq. 9).

z = Σₖ aₖ hₖ        a = softmax(wᵀ (tanh(V hᵀ) ⊙ sigm(U hᵀ)))
"""

from jaxtyping import Float
from torch import Tensor, nn

from bagwise.pooling.attending import AttentionPooling
from bagwise.segments import Rows


class GatedAttention(AttentionPooling):
    """Eq. 9: wᵀ (tanh(V hᵀ) ⊙ sigm(U hᵀ))."""

    title = "gated attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.V = nn.Linear(width, attention_width, bias=False)
        self.U = nn.Linear(width, attention_width, bias=False)
        self.w = nn.Linear(attention_width, heads, bias=False)

    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        return self.w(self.V(embeddings).tanh_() * self.U(embeddings).sigmoid_())
