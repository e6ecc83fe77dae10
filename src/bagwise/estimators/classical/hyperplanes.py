"""Separating hyperplanes in the feature space of a kernel: exact with libsvm, or with liblinear on Nyström features.

    linear   k(x, z) = xᵀz
    rbf      k(x, z) = exp(−γ |x − z|²)

    min over w, b   ½|w|² + Σᵢ costᵢ · max(0, 1 − yᵢ (wᵀpᵢ + b))
    f(x) = Σⱼ cⱼ k(x, zⱼ) + b

A point pᵢ is a row φ(x), or a mixture of rows Σⱼ mᵢⱼ φ(xⱼ) whose shares sum to one, such as the mean of a bag. The
Nyström approximation (Williams & Seeger 2001) with landmarks z is φ(x) = K(z, z)^−½ k(z, x); it is exact if every row
is a landmark.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from bagwise.arguments import choose_by_name
from bagwise.errors import InputError
from bagwise.estimators.classical.kernel_machine import resolve_gamma
from bagwise.io import get_free_memory

VALUES_PER_BLOCK = 1 << 22  # values in a block of rows, or in its kernel: 32 MB
MAX_EXACT_ROWS = 30_000  # of an exact kernel: 7 GB, and another 7 GB if the points are not the rows themselves
LIBSVM_TOLERANCE = 1e-7  # tight, so that small decreases of the objective are not lost in solver errors
LIBSVM_ITERATIONS = 1_000  # per point: libsvm stores its kernel in float32 and may never reach this tolerance
LIBLINEAR_ITERATIONS = 2_000  # the relative error of the objective is then about 1e-4
GRADIENT_TOLERANCE = 1e-12  # smaller gradients, relative to the sum of the costs, are rounding errors
EIGENVALUE_TOLERANCE = 1e-10  # smaller eigenvalues of K(z, z), relative to the largest, are rounding errors


@dataclass(frozen=True)
class Kernel:
    """A kernel between rows: rbf if γ > 0, linear if γ = 0 (with which the rbf kernel would be constant)."""

    gamma: float

    def __call__(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Compute the kernel of shape (n, m) between rows of shapes (n, width) and (m, width)."""
        if self.gamma == 0:
            return rows @ others.T
        center = others.mean(axis=0)  # distances do not change, and are precise for rows far from zero
        others = others - center
        values = np.empty((len(rows), len(others)))
        for block in _cut_blocks(rows, others):
            self._compute_rbf(rows[block] - center, others, out=values[block])
        return values

    def _compute_rbf(self, rows: np.ndarray, others: np.ndarray, out: np.ndarray) -> None:
        """Compute exp(2γ xᵀz − γ|x|² − γ|z|²); the exponent is clipped, as rounding errors may make it positive."""
        np.matmul(rows, (2 * self.gamma * others).T, out=out)
        out -= self.gamma * np.einsum("nw,nw->n", rows, rows)[:, None]
        out -= self.gamma * np.einsum("nw,nw->n", others, others)
        np.exp(np.minimum(out, 0.0, out=out), out=out)


@dataclass(frozen=True)
class KernelExpansion:
    """The decision function f(x) = Σⱼ cⱼ k(x, zⱼ) + b, called with rows x."""

    kernel: Kernel
    rows: np.ndarray  # z, (n_support, width)
    coefficients: np.ndarray  # c, (n_support,)
    intercept: float

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Compute the scores of rows, in blocks of bounded memory."""
        blocks = [self.kernel(rows[block], self.rows) @ self.coefficients for block in _cut_blocks(rows, self.rows)]
        return np.concatenate(blocks) + self.intercept


def build_kernel(name: Any, gamma: Any, rows: np.ndarray) -> Kernel:
    """Return the kernel of a name; γ is a number, or "scale" to compute it from the rows."""
    is_rbf = choose_by_name(name, {"linear": False, "rbf": True}, "kernel")
    return Kernel(resolve_gamma(gamma, rows) if is_rbf else 0.0)


def make_expansion(kernel: Kernel, rows: np.ndarray, coefficients: np.ndarray, intercept: float) -> KernelExpansion:
    """Return the decision function without rows of coefficient zero; a linear kernel needs only the normal vector."""
    if kernel.gamma == 0:
        rows, coefficients = (coefficients @ rows)[None], np.ones(1)
    else:
        is_support = coefficients != 0
        rows, coefficients = rows[is_support], coefficients[is_support]
    return KernelExpansion(kernel=kernel, rows=rows, coefficients=coefficients, intercept=intercept)


def _cut_blocks(rows: np.ndarray, others: np.ndarray) -> Iterator[slice]:
    step = max(1, VALUES_PER_BLOCK // max(len(others), rows.shape[1]))
    return (slice(start, start + step) for start in range(0, len(rows), step))


class TrainingPoints(NamedTuple):
    """Points to separate; without shares, they are the rows of the space."""

    labels: np.ndarray  # (n_points,) of −1 and 1
    costs: np.ndarray  # (n_points,)
    shares: csr_array | None = None  # m, (n_points, n_rows)

    def scores(self, row_scores: np.ndarray) -> np.ndarray:
        """Compute the scores of the points from the scores of the rows, which is possible as scores are linear."""
        return row_scores if self.shares is None else self.shares @ row_scores


class Hyperplane(NamedTuple):
    """A fitted hyperplane, and its scores of all rows of the space."""

    coefficients: np.ndarray  # of the rows, or of the landmarks
    intercept: float
    complexity: float  # the regularisation term of the objective
    scores: np.ndarray  # (n_rows,)


def compute_objective(plane: Hyperplane, points: TrainingPoints) -> float:
    """Compute the objective of a hyperplane for these points."""
    margins = points.labels * points.scores(plane.scores)
    return plane.complexity + float((points.costs * np.maximum(0.0, 1.0 - margins)).sum())


class Space(ABC):
    """Abstract base class of the feature space of a kernel, with the rows in it."""

    @abstractmethod
    def fit_hyperplane(self, points: TrainingPoints) -> Hyperplane:
        """Return the hyperplane of minimum objective."""

    @abstractmethod
    def make_function(self, plane: Hyperplane) -> KernelExpansion:
        """Return the decision function of a hyperplane."""


class ExactSpace(Space):
    """The exact space: the whole kernel matrix is in memory, and hyperplanes are fitted by libsvm."""

    def __init__(self, kernel: Kernel, rows: np.ndarray) -> None:
        if len(rows) > MAX_EXACT_ROWS:
            raise InputError(
                f"the exact kernel of {len(rows):,} instances does not fit into memory (limit: {MAX_EXACT_ROWS:,}); "
                "set components, e.g. components=500, for an approximate kernel"
            )
        needed, free = 2 * 8 * len(rows) ** 2, get_free_memory()  # the kernel of the rows and that of the points
        if free is not None and needed > free:
            raise InputError(
                f"the exact kernel of {len(rows):,} instances needs about {needed / 1e9:.1f} GB of memory, but only "
                f"{free / 1e9:.1f} GB are available; set components, e.g. components=500, for an approximate kernel"
            )
        self.kernel, self.rows = kernel, rows
        self.values = kernel(rows, rows)
        self.point_kernel = PointKernel(self.values)

    def fit_hyperplane(self, points: TrainingPoints) -> Hyperplane:
        n_points = len(points.labels)
        solver = SVC(C=1.0, kernel="precomputed", tol=LIBSVM_TOLERANCE, max_iter=LIBSVM_ITERATIONS * n_points)
        _fit_solver(solver, self.point_kernel.compute(points.shares), points)
        point_coefficients = np.zeros(n_points)
        point_coefficients[solver.support_] = solver.dual_coef_[0]
        coefficients = point_coefficients if points.shares is None else points.shares.T @ point_coefficients
        products = self.values @ coefficients
        intercept = _find_best_intercept(points, points.scores(products))
        return Hyperplane(
            coefficients=coefficients,
            intercept=intercept,
            complexity=0.5 * float(coefficients @ products),
            scores=products + intercept,
        )

    def make_function(self, plane: Hyperplane) -> KernelExpansion:
        return make_expansion(self.kernel, self.rows, plane.coefficients, plane.intercept)


class PointKernel:
    """The kernel between points, S K Sᵀ, cached between calls; only rows of points that changed are recomputed."""

    def __init__(self, row_values: np.ndarray) -> None:
        self.row_values = row_values
        self.shares: csr_array | None = None

    def compute(self, shares: csr_array | None) -> np.ndarray:
        """Return the kernel between points, which the next call overwrites; without shares, the points are the rows."""
        if shares is None:
            return self.row_values
        if self.shares is None:
            self._initialize(shares)
        changed = np.flatnonzero((shares != self.shares).sum(axis=1))
        self.values[:, changed] = shares @ (shares[changed] @ self.row_values).T
        self.values[changed] = self.values[:, changed].T
        self.shares = shares
        return self.values

    def _initialize(self, shares: csr_array) -> None:
        """Initialise the cache as if each point were its first row, which is true for most points."""
        rows = shares.indices[shares.indptr[:-1]]
        self.values = self.row_values[np.ix_(rows, rows)]
        self.shares = csr_array((np.ones(len(rows)), (np.arange(len(rows)), rows)), shape=shares.shape)


class NystromSpace(Space):
    """The space of Nyström features; hyperplanes are fitted by liblinear, whose regularisation is ½(|w|² + b²)."""

    def __init__(self, kernel: Kernel, rows: np.ndarray, components: int, generator: np.random.Generator) -> None:
        self.kernel = kernel
        self.landmarks = rows[np.sort(generator.permutation(len(rows))[:components])]
        self.whitening = _compute_inverse_root(kernel(self.landmarks, self.landmarks))
        self.features = kernel(rows, self.landmarks) @ self.whitening
        self.seed = int(generator.integers(1 << 31))

    def fit_hyperplane(self, points: TrainingPoints) -> Hyperplane:
        rows = self.features if points.shares is None else points.shares @ self.features
        solver = LinearSVC(C=1.0, loss="hinge", max_iter=LIBLINEAR_ITERATIONS, random_state=self.seed)
        _fit_solver(solver, rows, points)
        normal, intercept = solver.coef_[0], float(solver.intercept_[0])
        return Hyperplane(
            coefficients=self.whitening @ normal,
            intercept=intercept,
            complexity=0.5 * (float(normal @ normal) + intercept**2),
            scores=self.features @ normal + intercept,
        )

    def make_function(self, plane: Hyperplane) -> KernelExpansion:
        return make_expansion(self.kernel, self.landmarks, plane.coefficients, plane.intercept)


def _find_best_intercept(points: TrainingPoints, products: np.ndarray) -> float:
    """Return the b of minimum loss; the midpoint if several values are optimal. libsvm finds b only approximately.

    The loss is piecewise linear in b. Every point adds a kink at b = y − wᵀp, where the gradient increases by the cost
    of the point. To the left of all kinks, the gradient is minus the total cost of the positive points.
    """
    kinks = points.labels - products
    order = np.argsort(kinks)
    gradients = np.cumsum(points.costs[order]) - points.costs[points.labels == 1].sum()
    tolerance = GRADIENT_TOLERANCE * points.costs.sum()
    first, last = np.searchsorted(gradients, [-tolerance, tolerance])
    return 0.5 * float(kinks[order[first]] + kinks[order[last]])


def _fit_solver(solver: SVC | LinearSVC, rows: np.ndarray, points: TrainingPoints) -> None:
    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore", ConvergenceWarning)  # further iterations hardly change the result
        solver.fit(rows, points.labels, sample_weight=points.costs)


def _compute_inverse_root(values: np.ndarray) -> np.ndarray:
    """Compute W with Wᵀ K W = I: the eigenvectors of K, each divided by the square root of its eigenvalue."""
    eigenvalues, vectors = np.linalg.eigh(values)
    is_kept = eigenvalues > EIGENVALUE_TOLERANCE * eigenvalues[-1]
    return vectors[:, is_kept] / np.sqrt(eigenvalues[is_kept])
