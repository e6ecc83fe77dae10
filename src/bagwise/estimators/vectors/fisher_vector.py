"""miFV (Wei, Wu & Zhou 2017): a bag is its Fisher vector, the slope of its likelihood under a mixture of Gaussians.

    c(x): for each Gaussian k, with γₖ = p(k | x) and z = (x − μₖ) / σₖ,   γₖ z / √πₖ   and   γₖ (z² − 1) / √(2πₖ)
    u = sign(v) √|v| of the sum v of codes, brought to unit length, goes to a linear machine

These are the derivatives of log p(x) by means and deviations, divided by the roots of their Fisher information
(Sánchez et al. 2013); the derivative by the weights πₖ, which adds little, is left out, as in VLFeat, which the authors
used. First come the principal axes that hold a share of the variance. Covariances are diagonal.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical import ClassicalEstimator
from bagwise.estimators.vectors.bag_vectors import CodeBook, LearnedVectors, bag_vectors
from bagwise.estimators.vectors.linear_machine import LinearMachine, fit_linear_machine
from bagwise.quantities import real_number, whole_number
from bagwise.randomness import Purpose


@dataclass(frozen=True)
class Axes:
    """Principal axes: x ↦ A (x − m)."""

    origin: np.ndarray  # (width,)
    directions: np.ndarray  # (n_axes, width)

    def rows(self, rows: np.ndarray) -> np.ndarray:
        return (rows - self.origin) @ self.directions.T


@dataclass(frozen=True)
class Mixture(CodeBook):
    """Gaussians with diagonal covariances, on principal axes."""

    axes: Axes
    shares: np.ndarray  # πₖ (n_components,)
    means: np.ndarray  # (n_components, n_axes)
    deviations: np.ndarray  # (n_components, n_axes)

    @property
    def width(self) -> int:
        return 2 * self.means.size

    def codes(self, rows: np.ndarray) -> np.ndarray:
        z = (self.axes.rows(rows)[:, None] - self.means) / self.deviations
        weights = (softmax(self._log_densities(z), axis=1) / np.sqrt(self.shares))[:, :, None]
        parts = np.stack([weights * z, weights * (z**2 - 1) / np.sqrt(2)], axis=1)
        return parts.reshape(len(rows), -1)

    def _log_densities(self, z: np.ndarray) -> np.ndarray:
        """log πₖ N(x; μₖ, σₖ) but for a constant, (n_instances, n_components)."""
        return np.log(self.shares) - np.log(self.deviations).sum(axis=1) - (z**2).sum(axis=2) / 2


@dataclass(frozen=True)
class LearnedFisher(LearnedVectors):
    book: Mixture
    machine: LinearMachine


class MiFV(ClassicalEstimator):
    """Fisher vectors of bags under a mixture of Gaussians; then a linear support vector machine.

    n_components : Gaussians of the mixture
    energy : share of the variance that the principal axes keep, up to 1
    C : what an error costs the linear machine
    standardize, calibration, random_state : see ``ClassicalEstimator``
    """

    learns = LearnedFisher

    def __init__(
        self,
        n_components: Any = 1,
        energy: Any = 0.9,
        C: Any = 1.0,
        standardize: Any = True,
        calibration: Any = 3,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.energy = energy
        self.C = C
        self.standardize = standardize
        self.calibration = calibration
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> LearnedFisher:
        book = learn_mixture(bags.instances, self.n_components, self.energy, seed)
        return LearnedFisher(book, fit_linear_machine(bag_vectors(book, bags), targets, self.C))


def learn_mixture(rows: np.ndarray, n_components: Any, energy: Any, seed: int) -> Mixture:
    """Principal axes of rows and a mixture on them, on one thread, because several add in any order."""
    number = whole_number("n_components", n_components, least=1)
    if number > len(rows):
        raise InputError(f"n_components is {number}, and the training bags hold {len(rows)} instances; ask for fewer")
    start = randomness.integer(seed, Purpose.INITIALIZATION) % (1 << 32)
    solver = GaussianMixture(number, covariance_type="diag", random_state=start)
    axes = principal_axes(rows, energy)
    with warnings.catch_warnings(), threadpool_limits(1, "openmp"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # any mixture has Fisher vectors
        solver.fit(axes.rows(rows))
    return Mixture(axes, solver.weights_, solver.means_, np.sqrt(solver.covariances_))


def principal_axes(rows: np.ndarray, energy: Any) -> Axes:
    """As few axes as hold that share of the variance."""
    share = real_number("energy", energy, above=0)
    if share > 1:
        raise InputError(f"energy is {energy}; it is a share of the variance, above 0 and at most 1")
    with np.errstate(invalid="ignore"):  # rows that are all the same have no variance to share
        solver = PCA().fit(rows)
    reached = np.cumsum(solver.explained_variance_)
    kept = int(np.searchsorted(reached, share * reached[-1])) + 1
    return Axes(solver.mean_, solver.components_[:kept])
