"""Attention as in the code that the paper's authors published: with a bias in the hidden layer, unlike eq. 8.

z = Σₖ aₖ hₖ        a = softmax(wᵀ tanh(V hᵀ + v))

A bias beside w would be the same for all instances, and the softmax would not see it.
"""

from torch import nn

from bagwise.pooling.attention import Attention


class BiasedAttention(Attention):
    """wᵀ tanh(V hᵀ + v)."""

    title = "biased attention"

    def __init__(self, width: int, attention_width: int = 64, heads: int = 1) -> None:
        super().__init__(width, attention_width, heads)
        self.V = nn.Linear(width, attention_width)
