"""Averaged weights: the mean of those after each of the last epochs, steadier than any single ones.

Accuracy at one half swings from epoch to epoch on few bags; weights averaged along the path swing less (Polyak &
Juditsky 1992; Izmailov et al. 2018). Nothing has to be held out for it.
"""

from torch import Tensor


def running_mean(mean: dict[str, Tensor], values: dict[str, Tensor], count: int) -> dict[str, Tensor]:
    """The mean of ``count`` sets of weights, by the mean of those before and the newest; counters stay the newest.

    >>> import torch
    >>> first = running_mean({}, {"w": torch.tensor([1.0])}, 1)
    >>> running_mean(first, {"w": torch.tensor([4.0])}, 2)
    {'w': tensor([2.5000])}
    """
    return {
        name: value.detach() + (mean[name] - value.detach()) * ((count - 1) / count)
        if count > 1 and value.is_floating_point()
        else value.detach().clone()
        for name, value in values.items()
    }
