"""Reductions within bags: pure functions over packed rows and offsets.

    values  (N, M)    rows of all bags laid end to end
    offsets (B + 1,)  bag b owns the rows offsets[b] … offsets[b + 1] − 1

This is the only file that knows how ragged reductions are computed, and where their speed is won: one bag, which is
the paper's batch, takes the dense operation; many bags take one kernel over all rows. ``sum`` and ``spread`` are
each other's gradient.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

Rows = Float[Tensor, "instances width"]
PerBag = Float[Tensor, "bags width"]
Offsets = Int[Tensor, " edges"]

FEW = 4096  # rows; one kernel does for so few, and beyond them its float32 sums lose digits


def sizes(offsets: Offsets) -> Int[Tensor, " bags"]:
    """Number of instances in each bag."""
    return offsets.diff()


def spread(per_bag: PerBag, offsets: Offsets) -> Rows:
    """Give every instance its bag's row.

    >>> spread(torch.tensor([[1.0], [2.0]]), torch.tensor([0, 1, 3])).ravel()
    tensor([1., 2., 2.])
    """
    if len(offsets) == 2:
        size: Any = offsets[-1]  # or the symbol of a size, where a graph is drawn
        return per_bag.expand(size, -1)
    return _Spread.apply(per_bag, offsets) if _learns(per_bag) else _spread_rows(per_bag, offsets)


def sum(values: Rows, offsets: Offsets) -> PerBag:
    """Sum of each bag's rows.

    >>> sum(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([0, 1, 3])).ravel()
    tensor([1., 5.])
    """
    if len(offsets) == 2:
        return values.sum(0, keepdim=True)
    return _Sum.apply(values, offsets) if _learns(values) else _sum_rows(values, offsets)


def mean(values: Rows, offsets: Offsets) -> PerBag:
    """Mean of each bag's rows."""
    return sum(values, offsets) / sizes(offsets)[:, None]


def max(values: Rows, offsets: Offsets) -> PerBag:
    """Largest value of each column in each bag; among ties the gradient is split evenly."""
    if len(offsets) == 2:
        return values.amax(0, keepdim=True)
    return _Max.apply(values, offsets) if _learns(values) else _max_rows(values, offsets)


def winners(values: Rows, offsets: Offsets) -> Rows:
    """For each column, the instance's share in its bag's maximum: one for the winner, split among ties.

    >>> winners(torch.tensor([[1.0], [1.0], [0.0]]), torch.tensor([0, 3])).ravel()
    tensor([0.5000, 0.5000, 0.0000])
    """
    values = values.detach()
    hits = (values == spread(max(values, offsets), offsets)).to(values.dtype)
    return hits / spread(sum(hits, offsets), offsets)


def softmax(scores: Rows, offsets: Offsets) -> Rows:
    """Softmax of each column within each bag.

    >>> softmax(torch.zeros(3, 1), torch.tensor([0, 1, 3])).ravel()
    tensor([1.0000, 0.5000, 0.5000])
    """
    if len(offsets) == 2 and len(scores) <= FEW:
        return torch.softmax(scores, dim=0)
    peaks = spread(max(scores.detach(), offsets), offsets)  # for stability only, hence no gradient
    exponentials = (scores - peaks).exp()
    return exponentials / spread(_total(exponentials, offsets), offsets)


def log_sum_exp(scores: Rows, offsets: Offsets) -> PerBag:
    """log Σ exp of each column within each bag, whatever the size of the scores."""
    peaks = max(scores.detach(), offsets)
    return peaks + _total((scores - spread(peaks, offsets)).exp(), offsets).log()


def _total(exponentials: Rows, offsets: Offsets) -> PerBag:
    """The sum that normalises: in float64, because the small terms of a bag of a million would be lost in float32."""
    if exponentials.device.type == "mps":  # which has no float64
        return sum(exponentials, offsets)
    return sum(exponentials.double(), offsets).to(exponentials.dtype)


def weighted_sum(values: Rows, weights: Float[Tensor, "instances heads"], offsets: Offsets) -> Float[Tensor, "bags _"]:
    """Σₖ aₖ hₖ for each bag and each column of weights; the heads lie side by side, (bags, heads · width)."""
    if len(offsets) == 2:
        return (weights.T @ values).reshape(1, -1)
    parts = [sum(values * weights[:, [head]], offsets) for head in range(weights.shape[1])]
    return torch.cat(parts, dim=1)


def _learns(values: Tensor) -> bool:
    """Whether a gradient is wanted; without one the kernels are called straight."""
    return torch.is_grad_enabled() and values.requires_grad


def _sum_rows(values: Tensor, offsets: Tensor) -> Tensor:
    if values.ndim == 2 and values.shape[1] == 0:  # with several threads torch refuses rows without columns
        return values.new_zeros(len(offsets) - 1, 0)
    if values.device.type == "cpu":  # the fastest kernel for both many small and few large bags
        rows = torch.arange(len(values))
        return functional.embedding_bag(rows, values, offsets, mode="sum", include_last_offset=True)
    return values.new_zeros(len(offsets) - 1, values.shape[1]).index_add_(0, _owners(offsets), values)


def _spread_rows(per_bag: Tensor, offsets: Tensor) -> Tensor:
    return per_bag.index_select(0, _owners(offsets))


def _max_rows(values: Tensor, offsets: Tensor) -> Tensor:
    peaks = values.new_full((len(offsets) - 1, values.shape[1]), -torch.inf)
    return peaks.scatter_reduce_(0, _owners(offsets)[:, None].expand_as(values), values, "amax")


def _owners(offsets: Tensor) -> Tensor:
    """The bag each row belongs to."""
    bags = torch.arange(len(offsets) - 1, device=offsets.device)
    return bags.repeat_interleave(offsets.diff())


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, offsets: Tensor) -> Tensor:
        ctx.save_for_backward(offsets)
        return _sum_rows(values, offsets)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return spread(gradient, ctx.saved_tensors[0]), None


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, per_bag: Tensor, offsets: Tensor) -> Tensor:
        ctx.save_for_backward(offsets)
        return _spread_rows(per_bag, offsets)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return sum(gradient, ctx.saved_tensors[0]), None


class _Max(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, offsets: Tensor) -> Tensor:
        peaks = _max_rows(values, offsets)
        ctx.save_for_backward(values, peaks, offsets)
        return peaks

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        values, peaks, offsets = ctx.saved_tensors
        hits = (values == _spread_rows(peaks, offsets)).to(values.dtype)
        return spread(gradient / _sum_rows(hits, offsets), offsets) * hits, None
