"""Attention by the dot product: a = softmax(qᵀ K h / √L)."""

import math

import pytest
import torch

from bagwise.pooling import DotProductAttention


@pytest.mark.parametrize("heads", [1, 3])
def test_it_is_its_equation(heads):
    pooling, h = DotProductAttention(5, 6, heads).double(), torch.randn(7, 5, dtype=torch.float64)
    pooled, weights = pooling(h, torch.tensor([0, 7]))
    keys = [
        [sum(k * x for k, x in zip(row, h_k, strict=True)) for row in pooling.K.weight.tolist()] for h_k in h.tolist()
    ]
    for head, query in enumerate(pooling.query.weight.tolist()):
        products = [sum(q * k for q, k in zip(query, key, strict=True)) / math.sqrt(6) for key in keys]
        a = [math.exp(product) / sum(map(math.exp, products)) for product in products]
        z = [sum(a_k * h_k[m] for a_k, h_k in zip(a, h.tolist(), strict=True)) for m in range(5)]
        assert weights[:, head].tolist() == pytest.approx(a, rel=1e-12)
        assert pooled[0, 5 * head : 5 * head + 5].tolist() == pytest.approx(z, rel=1e-11, abs=1e-12)


def test_its_parameters_are_a_key_and_a_query():
    shapes = {name: tuple(parameter.shape) for name, parameter in DotProductAttention(5, 6).named_parameters()}
    assert shapes == {"K.weight": (6, 5), "query.weight": (1, 6)}
