"""Small contexts, for which the laws of models with a context are tested."""

import pytest
import torch
from torch import nn

from bagwise.nn.context import Context
from bagwise.nn.segments import segment_expand, segment_mean, segment_split


class AddedMean(Context):
    """h′ₖ = hₖ + W · mean(h₁, …, h_K)."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, embeddings, offsets):
        return embeddings + segment_expand(self.linear(segment_mean(embeddings, offsets)), offsets)


class SelfAttention(Context):
    """h′ₖ = hₖ + Σⱼ softmaxⱼ(qₖᵀ kⱼ) vⱼ; the weights of all pairs of instances are in memory."""

    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, embeddings, offsets):
        return torch.cat([rows + self._attend(rows) for rows in segment_split(embeddings, offsets)])

    def _attend(self, rows):
        return torch.softmax(self.query(rows) @ self.key(rows).T / rows.shape[1] ** 0.5, dim=1) @ self.value(rows)


class PerInstance(Context):
    """h′ₖ = tanh(W hₖ), which depends on no other instance."""

    supports_streaming = True

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, embeddings, offsets):
        return torch.tanh(self.linear(embeddings))


CONTEXTS = [AddedMean, SelfAttention]
every_context = pytest.mark.parametrize("kind", CONTEXTS)
