"""Max pooling, eq. 5: zₘ = maxₖ hₖₘ."""

import torch

from bagwise.pooling import Max

ONE_BAG = torch.tensor([0, 4])


def test_each_coordinate_is_the_largest_of_the_bag():
    h = torch.randn(4, 3, dtype=torch.float64)
    expected = torch.tensor([[max(float(h[k, m]) for k in range(4)) for m in range(3)]], dtype=torch.float64)
    assert torch.equal(Max()(h, ONE_BAG).values, expected)


def test_the_weight_is_the_share_of_coordinates_won():
    h = torch.tensor([[9.0, 0.0, 0.0, 1.0], [0.0, 9.0, 9.0, 2.0], [1.0, 1.0, 1.0, 9.0], [0.0, 0.0, 0.0, 0.0]])
    assert Max()(h, ONE_BAG).weights.ravel().tolist() == [0.25, 0.5, 0.25, 0.0]


def test_ties_split_the_weight():
    h = torch.tensor([[5.0, 1.0], [5.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    expected = torch.tensor([(1 / 2 + 1 / 3) / 2, 1 / 4, 1 / 6, 1 / 6])
    torch.testing.assert_close(Max()(h, ONE_BAG).weights.ravel(), expected)


def test_one_score_column_gives_all_weight_to_the_likeliest_instance():
    weights = Max()(torch.tensor([[-3.0], [2.0], [1.0], [-1e30]]), ONE_BAG).weights
    assert weights.ravel().tolist() == [0.0, 1.0, 0.0, 0.0]


def test_one_instance_gives_back_its_own_score():
    scores = torch.tensor([[-200.0], [0.3], [200.0]])
    assert torch.equal(Max()(scores, torch.arange(4)).values, scores)
