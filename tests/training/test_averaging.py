import torch

from bagwise.training.averaging import running_mean


def test_it_is_the_mean_of_all_that_was_given():
    torch.manual_seed(0)
    given = [{"w": torch.randn(3, 2, dtype=torch.float64), "steps": torch.tensor(number)} for number in range(7)]
    mean = {}
    for count, values in enumerate(given, start=1):
        mean = running_mean(mean, values, count)
    torch.testing.assert_close(mean["w"], torch.stack([values["w"] for values in given]).mean(dim=0))
    assert mean["steps"] == 6


def test_what_was_given_is_not_changed_or_shared():
    values = {"w": torch.ones(2)}
    mean = running_mean({}, values, 1)
    values["w"] += 1
    assert mean["w"].tolist() == [1.0, 1.0]
    running_mean(mean, values, 2)
    assert mean["w"].tolist() == [1.0, 1.0]
