"""Gated attention pooling, eq. 7 and 9, transcribed with plain loops."""

import math

import pytest
import torch

from bagwise.pooling import Attention, GatedAttention
from layouts import offsets_with_neighbours, weights_and_weighted_mean


def times(matrix, vector):
    return [sum(each * x for each, x in zip(row, vector, strict=True)) for row in matrix]


def sigm(x):
    return 1 / (1 + math.exp(-x))


def transcribed(h, V, U, w):
    """aₖ = exp(wᵀ (tanh(V hₖᵀ) ⊙ sigm(U hₖᵀ))) / Σⱼ exp(…), z = Σₖ aₖ hₖ."""
    relevance = [
        sum(w_l * math.tanh(v) * sigm(u) for w_l, v, u in zip(w, times(V, h_k), times(U, h_k), strict=True))
        for h_k in h
    ]
    return weights_and_weighted_mean(relevance, h)


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("neighbours", [0, 4])
def test_it_is_equations_seven_and_nine(size, neighbours):
    pooling = GatedAttention(width=5, attention_width=6).double()
    h = torch.randn(size + neighbours, 5, dtype=torch.float64) * 2
    pooled, weights = pooling(h, offsets_with_neighbours(size, neighbours))
    V, U, w = (layer.weight.tolist() for layer in (pooling.V, pooling.U, pooling.w))
    a, z = transcribed(h[:size].tolist(), V, U, w[0])
    assert weights[:size, 0].tolist() == pytest.approx(a, rel=1e-12)
    assert pooled[0].tolist() == pytest.approx(z, rel=1e-11, abs=1e-12)


def test_each_head_is_the_equation_with_its_own_w():
    pooling, h = GatedAttention(5, 6, heads=3).double(), torch.randn(7, 5, dtype=torch.float64)
    weights = pooling(h, torch.tensor([0, 7])).weights
    V, U, w = (layer.weight.tolist() for layer in (pooling.V, pooling.U, pooling.w))
    for head in range(3):
        assert weights[:, head].tolist() == pytest.approx(transcribed(h.tolist(), V, U, w[head])[0], rel=1e-12)


def test_an_open_gate_leaves_attention_at_half_strength():
    gated, plain = GatedAttention(5, 6).double(), Attention(5, 6).double()
    torch.nn.init.zeros_(gated.U.weight)  # sigm(0) = 1/2
    with torch.no_grad():
        plain.V.weight.copy_(gated.V.weight)
        plain.w.weight.copy_(gated.w.weight / 2)
    h = torch.randn(7, 5, dtype=torch.float64)
    torch.testing.assert_close(gated(h, torch.tensor([0, 7])).weights, plain(h, torch.tensor([0, 7])).weights)


def test_its_parameters_are_those_of_the_paper():
    shapes = {name: tuple(parameter.shape) for name, parameter in GatedAttention(5, 6).named_parameters()}
    assert shapes == {"V.weight": (6, 5), "U.weight": (6, 5), "w.weight": (1, 6)}
