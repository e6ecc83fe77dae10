"""miFV (Wei, Wu & Zhou 2017): a bag is represented by its Fisher vector under a Gaussian mixture."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import softmax
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from bagwise.arguments import check_real_number, check_whole_number
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.base import RandomState
from bagwise.estimators.classical.bag_vectors import (
    CodeBook,
    LearnedVectors,
    LinearClassifier,
    VectorEmbedder,
    compute_bag_vectors,
    fit_linear_classifier,
)
from bagwise.estimators.classical.base import ClassicalEstimator
from bagwise.nn import Purpose, random_integer


@dataclass(frozen=True)
class Axes:
    """Principal axes: x ↦ A (x − m)."""

    origin: np.ndarray  # (width,)
    directions: np.ndarray  # (n_axes, width)

    def rows(self, rows: np.ndarray) -> np.ndarray:
        """Project rows onto the axes."""
        return (rows - self.origin) @ self.directions.T


@dataclass(frozen=True)
class Mixture(CodeBook):
    """A mixture of Gaussians with diagonal covariances, on principal axes."""

    axes: Axes
    shares: np.ndarray  # mixture weights πₖ, (n_components,)
    means: np.ndarray  # (n_components, n_axes)
    deviations: np.ndarray  # (n_components, n_axes)

    @property
    def width(self) -> int:
        return 2 * self.means.size

    def codes(self, rows: np.ndarray) -> np.ndarray:
        z = (self.axes.rows(rows)[:, None] - self.means) / self.deviations
        weights = (softmax(self._log_densities(z), axis=1) / np.sqrt(self.shares))[:, :, None]
        gradients = np.stack([weights * z, weights * (z**2 - 1) / np.sqrt(2)], axis=1)
        return gradients.reshape(len(rows), -1)

    def _log_densities(self, z: np.ndarray) -> np.ndarray:
        """Compute log πₖ N(x; μₖ, σₖ) up to a constant, of shape (n_instances, n_components)."""
        return np.log(self.shares) - np.log(self.deviations).sum(axis=1) - (z**2).sum(axis=2) / 2


@dataclass(frozen=True)
class LearnedFisher(LearnedVectors):
    """The fitted state: a Gaussian mixture and a linear support vector machine."""

    book: Mixture
    machine: LinearClassifier


class MiFV(VectorEmbedder, ClassicalEstimator):
    """miFV: Fisher vectors of bags under a Gaussian mixture, with a linear support vector machine.

        c(x): for each Gaussian k, with γₖ = p(k | x) and z = (x − μₖ) / σₖ,
              γₖ z / √πₖ   and   γₖ (z² − 1) / √(2πₖ)
        v = Σᵢ c(xᵢ)        u = sign(v) √|v| / ‖√|v|‖        score = w · u + b

    (Wei, Wu & Zhou, *Scalable algorithms for multi-instance learning*, IEEE TNNLS 28, 2017). The codes are the
    derivatives of log p(x) with respect to means and standard deviations, divided by the square roots of their Fisher
    information (Sánchez et al. 2013). The derivatives with respect to the mixture weights πₖ, which add little, are
    omitted, as in VLFeat, which the authors used. Features are first projected onto the principal axes that explain a
    share of the variance (``energy``). Covariances are diagonal.

    Parameters
    ----------
    n_components : int, default=1
        Number of Gaussians.
    energy : float, default=0.9
        Share of the variance that the principal axes explain, above 0 and at most 1.
    C : float, default=1.0
        Penalty of misclassified bags in the linear support vector machine.
    scaling : {"clipped", "standard", "none"}, default="clipped"
        "standard" scales each feature (or channel) to mean 0 and standard deviation 1 in the training instances;
        "clipped" also clips features to the range of the training instances; "none" leaves them unchanged.
    calibration : bool, default=True
        Whether to calibrate the probabilities: slope and offset of the scores are learned by cross-validation.
    positive : object, default=None
        The positive one of two classes; None means the last class, or the obvious one of a common pair.
    random_state : int, RandomState or None, default=None
        Random seed; pass an int for reproducible results.

    Attributes
    ----------
    learned_ : LearnedFisher
        The fitted state, with the mixture ``learned_.book`` and the hyperplanes ``learned_.machine``.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MiFV(random_state=0).fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.weigh(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    learns = LearnedFisher

    def __init__(
        self,
        n_components: int = 1,
        energy: float = 0.9,
        C: float = 1.0,
        scaling: Literal["clipped", "standard", "none"] = "clipped",
        calibration: bool = True,
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.energy = energy
        self.C = C
        self.scaling = scaling
        self.calibration = calibration
        self.positive = positive
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> LearnedFisher:
        book = learn_mixture(bags.instances, self.n_components, self.energy, seed)
        return LearnedFisher(book, fit_linear_classifier(compute_bag_vectors(book, bags), targets, self.C))


def learn_mixture(rows: np.ndarray, n_components: Any, energy: Any, seed: int) -> Mixture:
    """Fit principal axes and a mixture, with one thread, because the order of sums varies with several threads."""
    n_gaussians = check_whole_number("n_components", n_components, minimum=1)
    if n_gaussians > len(rows):
        raise InputError(
            f"n_components is {n_gaussians}, but the training bags have only {len(rows)} instances; use fewer"
        )
    seed = random_integer(seed, Purpose.INITIALIZATION) % (1 << 32)
    solver = GaussianMixture(n_gaussians, covariance_type="diag", random_state=seed)
    axes = compute_principal_axes(rows, energy)
    with warnings.catch_warnings(), threadpool_limits(1, "openmp"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # Fisher vectors are defined for any mixture
        solver.fit(axes.rows(rows))
    return Mixture(axes=axes, shares=solver.weights_, means=solver.means_, deviations=np.sqrt(solver.covariances_))


def compute_principal_axes(rows: np.ndarray, energy: Any) -> Axes:
    """Compute the smallest number of principal axes that explain a share of the variance."""
    share = check_real_number("energy", energy, above=0)
    if share > 1:
        raise InputError(f"energy is {energy}; it must be a share of the variance, above 0 and at most 1")
    with np.errstate(invalid="ignore"):  # 0 / 0 if all rows are identical
        solver = PCA().fit(rows)
    cumulative = np.cumsum(solver.explained_variance_)
    n_axes = int(np.searchsorted(cumulative, share * cumulative[-1])) + 1
    return Axes(solver.mean_, solver.components_[:n_axes])
