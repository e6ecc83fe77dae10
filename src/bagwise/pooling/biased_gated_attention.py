"""Gated attention as in the published code of its authors and of CLAM: with biases in both branches, unlike eq. 9.

z = Σₖ aₖ hₖ        a = softmax(wᵀ (tanh(V hᵀ + v) ⊙ sigm(U hᵀ + u)))
"""

from torch import nn

from bagwise.pooling.gated_attention import GatedAttention


class BiasedGatedAttention(GatedAttention):
    """wᵀ (tanh(V hᵀ + v) ⊙ sigm(U hᵀ + u))."""

    title = "biased gated attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.V = nn.Linear(width, attention_width)
        self.U = nn.Linear(width, attention_width)
