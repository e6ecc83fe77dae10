"""Kernels between bags: a Gaussian kernel summed over all pairs of their instances, each instance with a mass.

    k(X, X') = Σₐ Σ_b uₐ u'_b exp(−γ ‖xₐ − x'_b‖²)        uₐ > 0

    MI-Kernel   u = 1 / √Σₐ Σ_b k(xₐ, x_b)    mi-Graph   u = Wₐ / Σ W

A mass is a term of the exponent: with tₐ = log uₐ − γ ‖xₐ‖² each summand is exp(2γ xₐ · x'_b + tₐ + t'_b), so a block
of pairs is one matrix product and one exponential. Blocks are cut through the rows, not between bags: memory is bounded
whatever the size of a bag.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bagwise import segments
from bagwise.bags import Bags
from bagwise.training.batches import tensor

BLOCK = 1024  # rows: a block of pairs takes 8 MB


class Points(NamedTuple):
    """Instances and the terms of their own in the exponent."""

    rows: Tensor  # (n, width)
    terms: Tensor  # (n,)

    def piece(self, rows: slice) -> "Points":
        """Some of them."""
        return Points(self.rows[rows], self.terms[rows])


class Piece(NamedTuple):
    """Neighbouring rows, and the bags they come from, of which the first and last may reach beyond."""

    rows: slice
    bags: slice
    offsets: Tensor  # of those bags' rows within the piece


def gram(bags: Bags, masses: np.ndarray, gamma: float, block: int = BLOCK) -> np.ndarray:
    """(n_bags, n_bags): the kernel between all bags."""
    points = _points(bags.instances, masses, gamma, bags.instances.mean(axis=0))
    pieces = list(_pieces(bags.offsets, block))
    kernel = np.zeros((len(bags), len(bags)))
    for number, left in enumerate(pieces):
        for right in pieces[number:]:
            sums = _sums(_pairs(points.piece(left.rows), points.piece(right.rows), gamma), left.offsets, right.offsets)
            kernel[left.bags, right.bags] += sums
            if right is not left:
                kernel[right.bags, left.bags] += sums.T
    return kernel


def norms(bags: Bags, gamma: float) -> np.ndarray:
    """√Σₐ Σ_b k(xₐ, x_b) of each bag: its length in the feature space of the kernel with all masses one."""
    squares = np.ones(len(bags))
    for bag in np.flatnonzero(bags.sizes > 1):
        squares[bag] = gram(bags[[bag]], np.ones(bags.sizes[bag]), gamma)[0, 0]
    return np.sqrt(squares)


def expansion(
    rows: np.ndarray,
    masses: np.ndarray,
    centers: np.ndarray,
    coefficients: np.ndarray,
    gamma: float,
    block: int = BLOCK,
) -> np.ndarray:
    """(n, n_scores): uₐ Σ_s βₛ k(xₐ, xₛ), over centers xₛ with a row of coefficients βₛ each."""
    middle = centers.mean(axis=0)
    points, others = _points(rows, masses, gamma, middle), _points(centers, np.ones(len(centers)), gamma, middle)
    weights = tensor(coefficients).clone()  # in memory of torch's own: products depend on where their factors lie
    values = torch.zeros(len(rows), weights.shape[1], dtype=torch.float64)
    for left in _slices(len(rows), block):
        for right in _slices(len(centers), block):
            values[left] += _pairs(points.piece(left), others.piece(right), gamma) @ weights[right]
    return values.numpy()


def _points(rows: np.ndarray, masses: np.ndarray, gamma: float, middle: np.ndarray) -> Points:
    centered = tensor(rows) - tensor(middle)  # distances do not change, and far from zero they keep their digits
    squares = (centered * centered).sum(dim=1)
    return Points(centered, tensor(np.log(masses)) - gamma * squares)


def _pairs(left: Points, right: Points, gamma: float) -> Tensor:
    """The summands of a block."""
    exponents = torch.addmm(right.terms[None], left.rows, right.rows.T, alpha=2 * gamma)
    return exponents.add_(left.terms[:, None]).exp_()


def _sums(pairs: Tensor, left: Tensor, right: Tensor) -> np.ndarray:
    """A block summed over the rows of each bag, then over its columns."""
    over_rows = segments.sum(pairs, left)
    return segments.sum(over_rows.T.contiguous(), right).T.numpy()


def _pieces(offsets: np.ndarray, most: int) -> Iterator[Piece]:
    for rows in _slices(int(offsets[-1]), most):
        first = int(np.searchsorted(offsets, rows.start, side="right")) - 1
        last = int(np.searchsorted(offsets, rows.stop, side="left"))
        edges = offsets[first : last + 1].clip(rows.start, rows.stop) - rows.start
        yield Piece(rows, slice(first, last), tensor(edges))


def _slices(length: int, most: int) -> Iterator[slice]:
    return (slice(start, min(start + most, length)) for start in range(0, length, most))
