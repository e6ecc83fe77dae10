"""Attention pooling, eq. 7 and 8, transcribed with plain loops."""

import math

import pytest
import torch

from bagwise.pooling import Attention
from layouts import offsets_with_neighbours, weights_and_weighted_mean


def transcribed(h, V, w):
    """aₖ = exp(wᵀ tanh(V hₖᵀ)) / Σⱼ exp(wᵀ tanh(V hⱼᵀ)), z = Σₖ aₖ hₖ."""
    relevance = [
        sum(w_l * math.tanh(sum(v * x for v, x in zip(row, h_k, strict=True))) for w_l, row in zip(w, V, strict=True))
        for h_k in h
    ]
    return weights_and_weighted_mean(relevance, h)


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("neighbours", [0, 4])
def test_it_is_equations_seven_and_eight(size, neighbours):
    pooling = Attention(width=5, attention_width=6).double()
    h = torch.randn(size + neighbours, 5, dtype=torch.float64) * 2
    pooled, weights = pooling(h, offsets_with_neighbours(size, neighbours))
    a, z = transcribed(h[:size].tolist(), pooling.V.weight.tolist(), pooling.w.weight[0].tolist())
    assert weights[:size, 0].tolist() == pytest.approx(a, rel=1e-12)
    assert pooled[0].tolist() == pytest.approx(z, rel=1e-11, abs=1e-12)


def test_each_head_is_the_equation_with_its_own_w():
    pooling, h = Attention(5, 6, heads=3).double(), torch.randn(7, 5, dtype=torch.float64)
    weights = pooling(h, torch.tensor([0, 7])).weights
    for head in range(3):
        a, _ = transcribed(h.tolist(), pooling.V.weight.tolist(), pooling.w.weight[head].tolist())
        assert weights[:, head].tolist() == pytest.approx(a, rel=1e-12)


def test_its_parameters_are_those_of_the_paper():
    shapes = {name: tuple(parameter.shape) for name, parameter in Attention(5, 6).named_parameters()}
    assert shapes == {"V.weight": (6, 5), "w.weight": (1, 6)}
