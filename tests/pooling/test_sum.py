"""Sum pooling, Theorem 1: z = Σₖ hₖ."""

import math

import torch

from bagwise.pooling import Sum


def test_each_coordinate_is_the_sum_of_the_bag():
    h = torch.randn(4, 3, dtype=torch.float64)
    expected = [[math.fsum(float(h[k, m]) for k in range(4)) for m in range(3)]]
    pooled = Sum()(h, torch.tensor([0, 4])).values
    torch.testing.assert_close(pooled, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=1e-14)


def test_every_instance_weighs_one_over_the_size_of_its_bag():
    weights = Sum()(torch.randn(5, 2), torch.tensor([0, 1, 5])).weights
    assert weights.ravel().tolist() == [1.0, 0.25, 0.25, 0.25, 0.25]


def test_one_instance_gives_back_its_own_score():
    scores = torch.tensor([[-200.0], [0.3], [200.0]])
    assert torch.equal(Sum()(scores, torch.arange(4)).values, scores)
