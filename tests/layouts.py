"""How the bags of the tests of poolings are laid out, and what is computed of them by hand."""

import math

import torch

MODERATE = [-2.5, -0.7, 0.1, 0.4, 1.9, 3.0]
EXTREMES = [
    [-200.0, -50.0, 0.3, 50.0, 200.0],
    [-200.0, -50.0, -199.5],
    [200.0, 50.0, 199.5],
    [-200.0, 200.0],
    [-200.0, -200.0],
]


def offsets_with_neighbours(size, neighbours):
    """Offsets of a bag of that size, and of a second bag behind it unless there are no neighbours."""
    return torch.tensor([0, size, *([size + neighbours] * (neighbours > 0))])


def score_gradient_and_weights(pooling, scores, dtype=torch.float64):
    """What a pooling makes of the scores of one bag alone."""
    values = torch.tensor(scores, dtype=dtype)[:, None].requires_grad_()
    pooled, weights = pooling(values, torch.tensor([0, len(scores)]))
    (gradient,) = torch.autograd.grad(pooled.sum(), values)
    return pooled[0, 0].detach(), gradient.ravel(), weights.detach().ravel()


def weights_and_weighted_mean(relevance, h):
    """Equation 7 with plain loops: aₖ = exp(relevanceₖ) / Σⱼ exp(relevanceⱼ), z = Σₖ aₖ hₖ."""
    total = sum(math.exp(each) for each in relevance)
    a = [math.exp(each) / total for each in relevance]
    return a, [sum(a_k * h_k[m] for a_k, h_k in zip(a, h, strict=True)) for m in range(len(h[0]))]
