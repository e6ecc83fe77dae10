"""Attention with a bias, transcribed with plain loops."""

import math

import pytest
import torch

from bagwise.pooling import Attention, BiasedAttention
from layouts import offsets_with_neighbours, weights_and_weighted_mean


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("neighbours", [0, 4])
def test_it_is_its_equation(size, neighbours):
    pooling = BiasedAttention(width=5, attention_width=6).double()
    h = torch.randn(size + neighbours, 5, dtype=torch.float64) * 2
    pooled, weights = pooling(h, offsets_with_neighbours(size, neighbours))
    V, v, w = pooling.V.weight.tolist(), pooling.V.bias.tolist(), pooling.w.weight[0].tolist()
    relevance = [
        sum(
            w_l * math.tanh(sum(a * b for a, b in zip(row, h_k, strict=True)) + v_l)
            for row, v_l, w_l in zip(V, v, w, strict=True)
        )
        for h_k in h[:size].tolist()
    ]
    a, z = weights_and_weighted_mean(relevance, h[:size].tolist())
    assert weights[:size, 0].tolist() == pytest.approx(a, rel=1e-12)
    assert pooled[0].tolist() == pytest.approx(z, rel=1e-11, abs=1e-12)


def test_without_its_bias_it_is_attention():
    biased, plain = BiasedAttention(4, 3), Attention(4, 3)
    torch.nn.init.zeros_(biased.V.bias)
    plain.load_state_dict({name: value for name, value in biased.state_dict().items() if name != "V.bias"})
    h, offsets = torch.randn(6, 4), torch.tensor([0, 2, 6])
    torch.testing.assert_close(biased(h, offsets).values, plain(h, offsets).values)
