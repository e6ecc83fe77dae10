"""Attention by one layer: a = softmax(wᵀ h)."""

import math

import pytest
import torch

from bagwise.pooling import OneLayerAttention


@pytest.mark.parametrize("heads", [1, 3])
def test_it_is_its_equation(heads):
    pooling, h = OneLayerAttention(5, heads=heads).double(), torch.randn(7, 5, dtype=torch.float64)
    pooled, weights = pooling(h, torch.tensor([0, 7]))
    for head, w in enumerate(pooling.w.weight.tolist()):
        powers = [math.exp(sum(w_m * x for w_m, x in zip(w, h_k, strict=True))) for h_k in h.tolist()]
        a = [power / sum(powers) for power in powers]
        z = [sum(a_k * h_k[m] for a_k, h_k in zip(a, h.tolist(), strict=True)) for m in range(5)]
        assert weights[:, head].tolist() == pytest.approx(a, rel=1e-12)
        assert pooled[0, 5 * head : 5 * head + 5].tolist() == pytest.approx(z, rel=1e-11, abs=1e-12)


def test_extreme_embeddings_give_all_weight_to_the_most_relevant():
    pooling = OneLayerAttention(1)
    torch.nn.init.ones_(pooling.w.weight)
    h = torch.tensor([[-1e30], [1e30], [0.0]], requires_grad=True)
    pooled, weights = pooling(h, torch.tensor([0, 3]))
    assert weights.ravel().tolist() == [0.0, 1.0, 0.0]
    assert torch.autograd.grad(pooled.sum(), h)[0].isfinite().all()
