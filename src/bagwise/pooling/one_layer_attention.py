"""Attention by one layer (Pappas & Popescu-Belis 2017), which the paper's two layers are set against.

z = Σₖ aₖ hₖ        a = softmax(wᵀ h)
"""

from jaxtyping import Float
from torch import Tensor, nn

from bagwise.pooling.attending import AttentionPooling
from bagwise.segments import Rows


class OneLayerAttention(AttentionPooling):
    """wᵀ h: one linear layer, nothing between it and the softmax."""

    title = "one-layer attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.w = nn.Linear(width, heads, bias=False)

    def relevance(self, embeddings: Rows) -> Float[Tensor, "instances heads"]:
        return self.w(embeddings)
