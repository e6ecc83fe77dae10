import torch

from bagwise.published.parts import two_class_head


def test_two_scores_become_their_difference_with_the_same_probabilities():
    generator = torch.Generator().manual_seed(0)
    head = {"weight": torch.randn(2, 5, generator=generator), "bias": torch.randn(2, generator=generator)}
    values = torch.randn(7, 5, generator=generator)
    expected = torch.softmax(values @ head["weight"].T + head["bias"], dim=1)[:, 1]
    one = two_class_head(head)
    torch.testing.assert_close(torch.sigmoid(values @ one["weight"].T + one["bias"])[:, 0], expected)


def test_more_scores_stay():
    head = {"weight": torch.ones(3, 5), "bias": torch.ones(3)}
    assert two_class_head(head) is head
