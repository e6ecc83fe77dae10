"""Kernels between bags: a Gaussian kernel summed over all pairs of instances, in which each instance has a mass.

    k(X, X') = Σₐ Σ_b uₐ u'_b exp(−γ ‖xₐ − x'_b‖²)        uₐ > 0

    MI-Kernel   u = 1 / √Σₐ Σ_b k(xₐ, x_b)    mi-Graph   u = Wₐ / Σ W

The masses are part of the exponent: with tₐ = log uₐ − γ ‖xₐ‖², each summand is exp(2γ xₐ · x'_b + tₐ + t'_b), so a
block of pairs is computed by one matrix product and one exponential. A block is a range of rows, not of bags, so memory
is bounded for any bag size.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bagwise.bags import Bags
from bagwise.nn import segment_sum
from bagwise.training import array_to_tensor

BLOCK = 1024  # rows per block: a block of pairs takes 8 MB


class KernelPoints(NamedTuple):
    """Instances, and their terms t in the exponent."""

    rows: Tensor  # (n, width)
    terms: Tensor  # (n,)

    def select(self, rows: slice) -> "KernelPoints":
        """Return a slice of the points."""
        return KernelPoints(self.rows[rows], self.terms[rows])


class KernelBlock(NamedTuple):
    """A slice of rows, and the bags they belong to; the first and the last bag may extend beyond the slice."""

    rows: slice
    bags: slice
    offsets: Tensor  # of the bags, within the slice


def compute_gram_matrix(bags: Bags, masses: np.ndarray, gamma: float, block: int = BLOCK) -> np.ndarray:
    """Compute the kernel between all bags.

    Parameters
    ----------
    bags : Bags
        Bags of feature vectors.
    masses : ndarray of shape (n_instances,)
        The masses u, positive.
    gamma : float
        γ of the kernel between instances, positive.
    block : int, default=1024
        Number of rows per block.

    Returns
    -------
    ndarray of shape (n_bags, n_bags)
        The kernel k(X, X') of all pairs of bags.

    Examples
    --------
    >>> compute_gram_matrix(Bags.from_list([[[0.0]], [[0.0], [0.0]]]), np.ones(3), gamma=1.0)
    array([[1., 2.],
           [2., 4.]])
    """
    points = _make_points(bags.instances, masses, gamma, bags.instances.mean(axis=0))
    blocks = list(_cut_blocks(bags.offsets, block))
    kernel = np.zeros((len(bags), len(bags)))
    for number, left in enumerate(blocks):
        for right in blocks[number:]:
            pairs = _compute_pairs(points.select(left.rows), points.select(right.rows), gamma)
            sums = _sum_pairs(pairs, left.offsets, right.offsets)
            kernel[left.bags, right.bags] += sums
            if right is not left:
                kernel[right.bags, left.bags] += sums.T
    return kernel


def compute_norms(bags: Bags, gamma: float) -> np.ndarray:
    """Compute √Σₐ Σ_b k(xₐ, x_b) of each bag: its norm in the feature space of the kernel if all masses are one."""
    squares = np.ones(len(bags))
    for bag in np.flatnonzero(bags.sizes > 1):
        squares[bag] = compute_gram_matrix(bags[[bag]], np.ones(bags.sizes[bag]), gamma)[0, 0]
    return np.sqrt(squares)


def expand_kernel(
    rows: np.ndarray,
    masses: np.ndarray,
    centers: np.ndarray,
    coefficients: np.ndarray,
    gamma: float,
    block: int = BLOCK,
) -> np.ndarray:
    """Compute uₐ Σₛ βₛ k(xₐ, xₛ), of shape (n, n_scores), over centres xₛ with one row of coefficients βₛ each."""
    origin = centers.mean(axis=0)
    points = _make_points(rows, masses, gamma, origin)
    center_points = _make_points(centers, np.ones(len(centers)), gamma, origin)
    # cloned into memory allocated by torch: the last bits of a product depend on the alignment of its factors
    weights = array_to_tensor(coefficients).clone()
    values = torch.zeros(len(rows), weights.shape[1], dtype=torch.float64)
    for left in _cut_slices(len(rows), block):
        for right in _cut_slices(len(centers), block):
            values[left] += _compute_pairs(points.select(left), center_points.select(right), gamma) @ weights[right]
    return values.numpy()


def _make_points(rows: np.ndarray, masses: np.ndarray, gamma: float, origin: np.ndarray) -> KernelPoints:
    """Centre the rows: distances do not change, and are precise for rows far from zero."""
    centered = array_to_tensor(rows) - array_to_tensor(origin)
    squares = (centered * centered).sum(dim=1)
    return KernelPoints(centered, array_to_tensor(np.log(masses)) - gamma * squares)


def _compute_pairs(left: KernelPoints, right: KernelPoints, gamma: float) -> Tensor:
    """Compute the summands of the kernel for all pairs of a block."""
    exponents = torch.addmm(right.terms[None], left.rows, right.rows.T, alpha=2 * gamma)
    return exponents.add_(left.terms[:, None]).exp_()


def _sum_pairs(pairs: Tensor, left: Tensor, right: Tensor) -> np.ndarray:
    """Sum a block over the rows and the columns of each pair of bags."""
    over_rows = segment_sum(pairs, left)
    return segment_sum(over_rows.T.contiguous(), right).T.numpy()


def _cut_blocks(offsets: np.ndarray, size: int) -> Iterator[KernelBlock]:
    for rows in _cut_slices(int(offsets[-1]), size):
        first = int(np.searchsorted(offsets, rows.start, side="right")) - 1
        last = int(np.searchsorted(offsets, rows.stop, side="left"))
        edges = offsets[first : last + 1].clip(rows.start, rows.stop) - rows.start
        yield KernelBlock(rows, slice(first, last), array_to_tensor(edges))


def _cut_slices(length: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, length)) for start in range(0, length, size))
