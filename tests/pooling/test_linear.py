"""Mean and sum: every instance counts the same."""

import pytest
import torch

from bagwise.pooling import Mean, Sum


@pytest.mark.parametrize(("pooling", "expected"), [(Mean(), [2.0, 20.0]), (Sum(), [6.0, 60.0])])
def test_pieces_add_up_and_weigh_the_same(pooling, expected):
    values = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    parts = [pooling.summarise(pooling.terms(part), torch.tensor([0, len(part)])) for part in values.split(2)]
    totals = pooling.merge(*parts)
    assert pooling.conclude(totals).ravel().tolist() == expected
    weights = pooling.weigh(torch.zeros(3, 1), totals, torch.tensor([0, 3]))
    assert weights.ravel().tolist() == [1 / 3] * 3
