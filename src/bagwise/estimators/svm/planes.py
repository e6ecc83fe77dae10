"""Planes that separate rows in the space of a kernel: exact by libsvm, approximate by liblinear on Nyström features.

    min over w, b   ½|w|² + Σᵢ costᵢ · max(0, 1 − yᵢ (wᵀpᵢ + b))

A point pᵢ is a row φ(x), or a blend of rows Σⱼ mᵢⱼ φ(xⱼ) whose shares sum to one: the mean of a bag, for one.
Nyström (Williams & Seeger 2001): with landmarks z, φ(x) = K(z, z)^−½ k(z, x), exact if every row is a landmark.
"""

import warnings
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from bagwise.errors import InputError
from bagwise.estimators.svm.kernel_expansion import Kernel, KernelExpansion, expand

MOST_ROWS = 30_000  # of an exact kernel: 7 GB, and as much again for points that are not the rows themselves
TOLERANCE = 1e-7  # of libsvm: tight, so that an objective that should fall is seen to fall
MOST_STEPS = 1_000  # of libsvm, times the points: it holds its kernel in float32 and may never come to such a tolerance
MOST_PASSES = 2_000  # of liblinear over the points: the objective is then some 1e-4 above its least, relative to it
ALIKE = 1e-12  # relative to all costs: slopes that differ by rounding
NEGLIGIBLE = 1e-10  # eigenvalues of K(z, z) below this share of the greatest are rounding errors


class Points(NamedTuple):
    """What is to be separated; without shares, the rows of the space themselves."""

    labels: np.ndarray  # (n_points,) of −1 and 1
    costs: np.ndarray  # (n_points,)
    shares: csr_array | None = None  # (n_points, n_rows)

    def scores(self, scores: np.ndarray) -> np.ndarray:
        """Scores of the points, by those of the rows: a plane's score is linear."""
        return scores if self.shares is None else self.shares @ scores


class Plane(NamedTuple):
    """A fitted plane: what it is made of, and where it leaves every row of its space."""

    coefficients: np.ndarray  # of the rows, or of the landmarks
    intercept: float
    complexity: float  # the part of the objective that is not loss
    scores: np.ndarray  # (n_rows,)


class Space(ABC):
    """Rows in the space of a kernel."""

    @abstractmethod
    def separate(self, points: Points) -> Plane:
        """The plane of the least objective."""

    @abstractmethod
    def function(self, plane: Plane) -> KernelExpansion:
        """The plane as a function of rows."""


def objective(plane: Plane, points: Points) -> float:
    """What a plane costs as a separation of these points."""
    margins = points.labels * points.scores(plane.scores)
    return plane.complexity + float((points.costs * np.maximum(0.0, 1.0 - margins)).sum())


class ExactSpace(Space):
    """All values of the kernel, held in memory; the planes are libsvm's."""

    def __init__(self, kernel: Kernel, rows: np.ndarray) -> None:
        if len(rows) > MOST_ROWS:
            raise InputError(
                f"the exact kernel of {len(rows):,} instances does not fit into memory ({MOST_ROWS:,} do); "
                "give components, e.g. components=500, for an approximate one"
            )
        self.kernel, self.rows = kernel, rows
        self.values = kernel(rows, rows)
        self.between = Between(self.values)

    def separate(self, points: Points) -> Plane:
        solver = SVC(C=1.0, kernel="precomputed", tol=TOLERANCE, max_iter=MOST_STEPS * len(points.labels))
        _fit(solver, self.between.points(points.shares), points)
        at_points = np.zeros(len(points.labels))
        at_points[solver.support_] = solver.dual_coef_[0]
        coefficients = at_points if points.shares is None else points.shares.T @ at_points
        products = self.values @ coefficients
        intercept = _best_intercept(points, points.scores(products))
        return Plane(coefficients, intercept, 0.5 * float(coefficients @ products), products + intercept)

    def function(self, plane: Plane) -> KernelExpansion:
        return expand(self.kernel, self.rows, plane.coefficients, plane.intercept)


class Between:
    """The kernel between points, S K Sᵀ, kept from call to call: only points that changed are computed again."""

    def __init__(self, values: np.ndarray) -> None:
        self.of_rows = values
        self.shares: csr_array | None = None

    def points(self, shares: csr_array | None) -> np.ndarray:
        """(n_points, n_points), overwritten by the next call; without shares the points are the rows."""
        if shares is None:
            return self.of_rows
        if self.shares is None:
            self._start(shares)
        changed = np.flatnonzero((shares != self.shares).sum(axis=1))
        self.values[:, changed] = shares @ (shares[changed] @ self.of_rows).T
        self.values[changed] = self.values[:, changed].T
        self.shares = shares
        return self.values

    def _start(self, shares: csr_array) -> None:
        """As if each point were the first of its rows alone, which most are."""
        rows = shares.indices[shares.indptr[:-1]]
        self.values = self.of_rows[np.ix_(rows, rows)]
        self.shares = csr_array((np.ones(len(rows)), (np.arange(len(rows)), rows)), shape=shares.shape)


class NystromSpace(Space):
    """Features by which the kernel is approximated; the planes are liblinear's, whose complexity is ½(|w|² + b²)."""

    def __init__(self, kernel: Kernel, rows: np.ndarray, components: int, draws: np.random.Generator) -> None:
        self.kernel = kernel
        self.landmarks = rows[np.sort(draws.permutation(len(rows))[:components])]
        self.whitening = _inverse_root(kernel(self.landmarks, self.landmarks))
        self.features = kernel(rows, self.landmarks) @ self.whitening
        self.seed = int(draws.integers(1 << 31))

    def separate(self, points: Points) -> Plane:
        rows = self.features if points.shares is None else points.shares @ self.features
        solver = LinearSVC(C=1.0, loss="hinge", max_iter=MOST_PASSES, random_state=self.seed)
        _fit(solver, rows, points)
        normal, intercept = solver.coef_[0], float(solver.intercept_[0])
        complexity = 0.5 * (float(normal @ normal) + intercept**2)
        return Plane(self.whitening @ normal, intercept, complexity, self.features @ normal + intercept)

    def function(self, plane: Plane) -> KernelExpansion:
        return expand(self.kernel, self.landmarks, plane.coefficients, plane.intercept)


def _best_intercept(points: Points, products: np.ndarray) -> float:
    """The b of the least loss, which libsvm knows to its tolerance only; the middle where several are as good.

    Every point puts a kink at b = y − wᵀp, where the slope of the loss rises by its cost, from minus the cost of all
    positive points on.
    """
    kinks = points.labels - products
    order = np.argsort(kinks)
    slopes = np.cumsum(points.costs[order]) - points.costs[points.labels == 1].sum()
    flat = ALIKE * points.costs.sum()
    first, last = np.searchsorted(slopes, [-flat, flat])
    return 0.5 * float(kinks[order[first]] + kinks[order[last]])


def _fit(solver: SVC | LinearSVC, rows: np.ndarray, points: Points) -> None:
    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore", ConvergenceWarning)  # further steps change next to nothing
        solver.fit(rows, points.labels, sample_weight=points.costs)


def _inverse_root(values: np.ndarray) -> np.ndarray:
    """W with Wᵀ K W = 1: the eigenvectors of K, each divided by the root of its eigenvalue."""
    eigenvalues, vectors = np.linalg.eigh(values)
    kept = eigenvalues > NEGLIGIBLE * eigenvalues[-1]
    return vectors[:, kept] / np.sqrt(eigenvalues[kept])
