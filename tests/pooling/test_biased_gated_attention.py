"""Gated attention with biases, transcribed with plain loops."""

import math

import pytest
import torch

from bagwise.pooling import BiasedGatedAttention, GatedAttention
from layouts import offsets_with_neighbours, weights_and_weighted_mean


def affine(layer, vector):
    rows = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
    return [sum(a * b for a, b in zip(row, vector, strict=True)) + bias for row, bias in rows]


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("neighbours", [0, 4])
def test_it_is_its_equation(size, neighbours):
    pooling = BiasedGatedAttention(width=5, attention_width=6).double()
    h = torch.randn(size + neighbours, 5, dtype=torch.float64) * 2
    pooled, weights = pooling(h, offsets_with_neighbours(size, neighbours))
    w = pooling.w.weight[0].tolist()
    relevance = [
        sum(
            w_l * math.tanh(v) / (1 + math.exp(-u))
            for w_l, v, u in zip(w, affine(pooling.V, h_k), affine(pooling.U, h_k), strict=True)
        )
        for h_k in h[:size].tolist()
    ]
    a, z = weights_and_weighted_mean(relevance, h[:size].tolist())
    assert weights[:size, 0].tolist() == pytest.approx(a, rel=1e-12)
    assert pooled[0].tolist() == pytest.approx(z, rel=1e-11, abs=1e-12)


def test_without_its_biases_it_is_gated_attention():
    biased, plain = BiasedGatedAttention(4, 3), GatedAttention(4, 3)
    for layer in (biased.V, biased.U):
        torch.nn.init.zeros_(layer.bias)
    plain.load_state_dict({name: value for name, value in biased.state_dict().items() if "bias" not in name})
    h, offsets = torch.randn(6, 4), torch.tensor([0, 2, 6])
    torch.testing.assert_close(biased(h, offsets).values, plain(h, offsets).values)
