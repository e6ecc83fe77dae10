"""Stable logarithms that the poolings of probabilities share: exact where the plain formula underflows."""

import torch
from torch import Tensor
from torch.nn import functional

SMALL = -18.0  # below exp(SMALL), a first-order series is exact in float64


def log_softplus(scores: Tensor) -> Tensor:
    """log(softplus(s)); far to the left it is s − exp(s)/2.

    >>> log_softplus(torch.tensor([-1000.0]))
    tensor([-1000.])
    """
    low, high = scores.clamp(max=SMALL), scores.clamp(min=SMALL)  # each branch sees only its side: no NaN gradients
    return torch.where(scores < SMALL, low - low.exp() / 2, (-functional.logsigmoid(-high)).log())


def log_one_minus_exp(log_y: Tensor) -> Tensor:
    """log(1 − exp(−y)) from log y; for small y it is log y − y/2.

    >>> log_one_minus_exp(torch.tensor([-1000.0]))
    tensor([-1000.])
    """
    low, y = log_y.clamp(max=SMALL), log_y.clamp(min=SMALL).exp()
    return torch.where(log_y < SMALL, low - low.exp() / 2, (-torch.expm1(-y)).log())
