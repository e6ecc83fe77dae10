"""Reductions within bags: pure functions of packed rows and offsets.

    values  (N, M)    rows of all bags, concatenated
    offsets (B + 1,)  bag b consists of the rows offsets[b] … offsets[b + 1] − 1

All ragged reductions are implemented and optimised in this module. A single bag (the batch size of Ilse et al. 2018)
uses the dense operation of torch; several bags use one kernel over all rows. The gradient of ``segment_sum`` is
``segment_expand``, and vice versa.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

Rows = Float[Tensor, "instances width"]
PerBag = Float[Tensor, "bags width"]
Offsets = Int[Tensor, " edges"]

MAX_DENSE_ROWS = 4096  # torch.softmax is one kernel, but beyond this many rows its float32 sums lose digits


def segment_sizes(offsets: Offsets) -> Int[Tensor, " bags"]:
    """Return the number of instances in each bag.

    Parameters
    ----------
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.

    Returns
    -------
    Tensor of shape (bags,)
        Sizes of the bags.
    """
    return offsets.diff()


def segment_expand(per_bag: PerBag, offsets: Offsets) -> Rows:
    """Repeat the row of each bag for every instance of the bag.

    Parameters
    ----------
    per_bag : Tensor of shape (bags, width)
        One row per bag.
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.

    Returns
    -------
    Tensor of shape (instances, width)
        One row per instance.

    Examples
    --------
    >>> segment_expand(torch.tensor([[1.0], [2.0]]), torch.tensor([0, 1, 3])).ravel()
    tensor([1., 2., 2.])
    """
    if len(offsets) == 2:
        size: Any = offsets[-1]  # a tensor instead of an int, so that the size stays symbolic in exported graphs
        return per_bag.expand(size, -1)
    return _Expand.apply(per_bag, offsets) if _needs_gradient(per_bag) else _expand_rows(per_bag, offsets)


def segment_split(values: Rows, offsets: Offsets) -> tuple[Float[Tensor, "_ width"], ...]:
    """Split rows into bags, for computations between the instances of a bag.

    Parameters
    ----------
    values : Tensor of shape (instances, width)
        Rows of all bags.
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.

    Returns
    -------
    tuple of Tensor of shape (size, width)
        Rows of each bag; views, which are not copied.

    Examples
    --------
    >>> [rows.ravel().tolist() for rows in segment_split(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([0, 1, 3]))]
    [[1.0], [2.0, 3.0]]
    """
    if len(offsets) == 2:
        return (values,)  # offsets may be symbolic in exported graphs
    return values.split(segment_sizes(offsets).tolist())


def segment_sum(values: Rows, offsets: Offsets) -> PerBag:
    """Sum the rows of each bag.

    Parameters
    ----------
    values : Tensor of shape (instances, width)
        Rows of all bags.
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.

    Returns
    -------
    Tensor of shape (bags, width)
        Sums of the columns.

    Examples
    --------
    >>> segment_sum(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([0, 1, 3])).ravel()
    tensor([1., 5.])
    """
    if len(offsets) == 2:
        return values.sum(0, keepdim=True)
    return _Sum.apply(values, offsets) if _needs_gradient(values) else _sum_rows(values, offsets)


def segment_mean(values: Rows, offsets: Offsets) -> PerBag:
    """Average the rows of each bag.

    Parameters
    ----------
    values : Tensor of shape (instances, width)
        Rows of all bags.
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.

    Returns
    -------
    Tensor of shape (bags, width)
        Means of the columns.

    Examples
    --------
    >>> segment_mean(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([0, 1, 3])).ravel()
    tensor([1.0000, 2.5000])
    """
    return segment_sum(values, offsets) / segment_sizes(offsets)[:, None]


def segment_max(values: Rows, offsets: Offsets) -> PerBag:
    """Compute the maximum of each column within each bag; the gradient is split equally among ties.

    Parameters
    ----------
    values : Tensor of shape (instances, width)
        Rows of all bags.
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.

    Returns
    -------
    Tensor of shape (bags, width)
        Maxima of the columns.

    Examples
    --------
    >>> segment_max(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([0, 1, 3])).ravel()
    tensor([1., 3.])
    """
    if len(offsets) == 2:
        return values.amax(0, keepdim=True)
    return _Max.apply(values, offsets) if _needs_gradient(values) else _max_rows(values, offsets)


def segment_argmax(values: Rows, offsets: Offsets) -> Rows:
    """Mark the maximum of each column within each bag: one for the maximum, zero elsewhere; ties share the one equally.

    Parameters
    ----------
    values : Tensor of shape (instances, width)
        Rows of all bags.
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.

    Returns
    -------
    Tensor of shape (instances, width)
        Each column sums to one within each bag. Detached from the graph.

    Examples
    --------
    >>> segment_argmax(torch.tensor([[1.0], [1.0], [0.0]]), torch.tensor([0, 3])).ravel()
    tensor([0.5000, 0.5000, 0.0000])
    """
    values = values.detach()
    hits = (values == segment_expand(segment_max(values, offsets), offsets)).to(values.dtype)
    return hits / segment_expand(segment_sum(hits, offsets), offsets)


def segment_softmax(scores: Rows, offsets: Offsets) -> Rows:
    """Compute the softmax of each column within each bag.

    Parameters
    ----------
    scores : Tensor of shape (instances, width)
        Rows of all bags.
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.

    Returns
    -------
    Tensor of shape (instances, width)
        Each column sums to one within each bag.

    Examples
    --------
    >>> segment_softmax(torch.zeros(3, 1), torch.tensor([0, 1, 3])).ravel()
    tensor([1.0000, 0.5000, 0.5000])
    """
    if len(offsets) == 2 and len(scores) <= MAX_DENSE_ROWS:
        return torch.softmax(scores, dim=0)
    peaks = segment_expand(segment_max(scores.detach(), offsets), offsets)  # only for numerical stability
    exponentials = (scores - peaks).exp()
    return exponentials / segment_expand(_sum_exponentials(exponentials, offsets), offsets)


def segment_log_sum_exp(scores: Rows, offsets: Offsets) -> PerBag:
    """Compute log Σ exp of each column within each bag without overflow.

    Parameters
    ----------
    scores : Tensor of shape (instances, width)
        Rows of all bags.
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.

    Returns
    -------
    Tensor of shape (bags, width)
        log Σ exp of the columns.
    """
    peaks = segment_max(scores.detach(), offsets)
    return peaks + _sum_exponentials((scores - segment_expand(peaks, offsets)).exp(), offsets).log()


def segment_weighted_sum(
    values: Rows, weights: Float[Tensor, "instances heads"], offsets: Offsets
) -> Float[Tensor, "bags _"]:
    """Compute Σₖ aₖ hₖ for each bag and each column of weights.

    Parameters
    ----------
    values : Tensor of shape (instances, width)
        Rows h of all bags.
    weights : Tensor of shape (instances, heads)
        Weights a; one column per head.
    offsets : Tensor of shape (bags + 1,)
        Boundaries of the bags.

    Returns
    -------
    Tensor of shape (bags, heads * width)
        Weighted sums of all heads, concatenated.
    """
    if len(offsets) == 2:
        return (weights.T @ values).reshape(1, -1)
    parts = [segment_sum(values * weights[:, [head]], offsets) for head in range(weights.shape[1])]
    return torch.cat(parts, dim=1)


def _sum_exponentials(exponentials: Rows, offsets: Offsets) -> PerBag:
    """Sum in float64, because float32 loses the small terms of a bag of a million instances."""
    if exponentials.device.type == "mps":  # MPS does not support float64
        return segment_sum(exponentials, offsets)
    return segment_sum(exponentials.double(), offsets).to(exponentials.dtype)


def _needs_gradient(values: Tensor) -> bool:
    """Return whether autograd records operations on ``values``; if not, the kernels are called directly."""
    return torch.is_grad_enabled() and values.requires_grad


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, offsets: Tensor) -> Tensor:
        ctx.save_for_backward(offsets)
        return _sum_rows(values, offsets)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return segment_expand(gradient, ctx.saved_tensors[0]), None


class _Expand(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, per_bag: Tensor, offsets: Tensor) -> Tensor:
        ctx.save_for_backward(offsets)
        return _expand_rows(per_bag, offsets)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return segment_sum(gradient, ctx.saved_tensors[0]), None


class _Max(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, offsets: Tensor) -> Tensor:
        peaks = _max_rows(values, offsets)
        ctx.save_for_backward(values, peaks, offsets)
        return peaks

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        values, peaks, offsets = ctx.saved_tensors
        hits = (values == _expand_rows(peaks, offsets)).to(values.dtype)
        return segment_expand(gradient / _sum_rows(hits, offsets), offsets) * hits, None


def _sum_rows(values: Tensor, offsets: Tensor) -> Tensor:
    if values.ndim == 2 and values.shape[1] == 0:  # embedding_bag rejects zero columns if torch uses several threads
        return values.new_zeros(len(offsets) - 1, 0)
    if values.device.type == "cpu":  # fastest for many small bags and for few large bags
        rows = torch.arange(len(values))
        return functional.embedding_bag(rows, values, offsets, mode="sum", include_last_offset=True)
    return values.new_zeros(len(offsets) - 1, values.shape[1]).index_add_(0, _bag_of_each_row(offsets), values)


def _expand_rows(per_bag: Tensor, offsets: Tensor) -> Tensor:
    return per_bag.index_select(0, _bag_of_each_row(offsets))


def _max_rows(values: Tensor, offsets: Tensor) -> Tensor:
    peaks = values.new_full((len(offsets) - 1, values.shape[1]), -torch.inf)
    return peaks.scatter_reduce_(0, _bag_of_each_row(offsets)[:, None].expand_as(values), values, "amax")


def _bag_of_each_row(offsets: Tensor) -> Tensor:
    bags = torch.arange(len(offsets) - 1, device=offsets.device)
    return bags.repeat_interleave(offsets.diff())
