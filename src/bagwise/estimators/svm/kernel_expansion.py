"""Kernels between rows, and the decision function of a support vector machine as plain arrays.

linear   k(x, z) = xᵀz
rbf      k(x, z) = exp(−γ |x − z|²)
f(x) = Σⱼ cⱼ k(x, zⱼ) + b
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bagwise.estimators.kernels.gamma import resolve_gamma
from bagwise.names import choose

NUMBERS_AT_ONCE = 1 << 22  # of a block of rows, or of its kernel: 32 MB


@dataclass(frozen=True)
class Kernel:
    """A kernel between rows; γ = 0, at which every rbf would be constant, stands for the linear one."""

    gamma: float

    def __call__(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """(n, m) values between (n, width) and (m, width) rows."""
        if self.gamma == 0:
            return rows @ others.T
        center = others.mean(axis=0)  # distances do not change, and far from zero they keep their digits
        others = others - center
        values = np.empty((len(rows), len(others)))
        for block in _blocks(rows, others):
            self._radial(rows[block] - center, others, out=values[block])
        return values

    def _radial(self, rows: np.ndarray, others: np.ndarray, out: np.ndarray) -> None:
        """exp(2γ xᵀz − γ|x|² − γ|z|²); rounding may leave the exponent just above zero."""
        np.matmul(rows, (2 * self.gamma * others).T, out=out)
        out -= self.gamma * np.einsum("nw,nw->n", rows, rows)[:, None]
        out -= self.gamma * np.einsum("nw,nw->n", others, others)
        np.exp(np.minimum(out, 0.0, out=out), out=out)


@dataclass(frozen=True)
class KernelExpansion:
    """f(x) = Σⱼ cⱼ k(x, zⱼ) + b, called with rows x."""

    kernel: Kernel
    rows: np.ndarray  # (n_support, width): z
    coefficients: np.ndarray  # (n_support,): c
    intercept: float

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """(n,) scores of (n, width) rows, computed in blocks of bounded memory."""
        blocks = [self.kernel(rows[block], self.rows) @ self.coefficients for block in _blocks(rows, self.rows)]
        return np.concatenate(blocks) + self.intercept


def build_kernel(name: Any, gamma: Any, rows: np.ndarray) -> Kernel:
    """The kernel of that name; γ is a number, or "scale", for rows like these."""
    radial = choose(name, {"linear": False, "rbf": True}, "kernel")
    return Kernel(resolve_gamma(gamma, rows) if radial else 0.0)


def expand(kernel: Kernel, rows: np.ndarray, coefficients: np.ndarray, intercept: float) -> KernelExpansion:
    """The function without the rows that do not count; that of a linear kernel needs one row, its normal."""
    if kernel.gamma == 0:
        return KernelExpansion(kernel, (coefficients @ rows)[None], np.ones(1), intercept)
    counts = coefficients != 0
    return KernelExpansion(kernel, rows[counts], coefficients[counts], intercept)


def _blocks(rows: np.ndarray, others: np.ndarray) -> Iterator[slice]:
    step = max(1, NUMBERS_AT_ONCE // max(len(others), rows.shape[1]))
    return (slice(start, start + step) for start in range(0, len(rows), step))
