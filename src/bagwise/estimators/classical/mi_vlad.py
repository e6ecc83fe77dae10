"""miVLAD (Wei, Wu & Zhou 2017): a bag is represented by the residuals of its instances to k-means centres."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from bagwise.arguments import check_whole_number
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

N_INITIALIZATIONS = 5  # of k-means


@dataclass(frozen=True)
class Centers(CodeBook):
    """The centres of k-means."""

    centers: np.ndarray  # (n_centers, width of an instance)

    @property
    def width(self) -> int:
        return self.centers.size

    def codes(self, rows: np.ndarray) -> np.ndarray:
        blocks = np.zeros((len(rows), *self.centers.shape))
        nearest = self.nearest(rows)
        blocks[np.arange(len(rows)), nearest] = rows - self.centers[nearest]
        return blocks.reshape(len(rows), -1)

    def nearest(self, rows: np.ndarray) -> np.ndarray:
        """Return the index of the nearest centre of each row; ‖x‖² is omitted, as it is the same for all centres."""
        return ((self.centers**2).sum(axis=1) - 2 * rows @ self.centers.T).argmin(axis=1)


@dataclass(frozen=True)
class LearnedVLAD(LearnedVectors):
    """The fitted state: k-means centres and a linear support vector machine."""

    book: Centers
    machine: LinearClassifier


class MiVLAD(VectorEmbedder, ClassicalEstimator):
    """miVLAD: residuals to the centres of a code book, summed over the bag, with a linear support vector machine.

        c(x) has one block per centre: x − μₖ in the block of the nearest centre, zeros in the others
        v = Σᵢ c(xᵢ)        u = sign(v) √|v| / ‖√|v|‖        score = w · u + b

    The centres are computed by k-means over the instances of all training bags (Wei, Wu & Zhou, *Scalable algorithms
    for multi-instance learning*, IEEE TNNLS 28, 2017). In the article, their number is chosen by cross-validation, and
    is mostly one or two. The article does not specify the initialisation of k-means; here it is k-means++, and the best
    of five initialisations is used.

    Parameters
    ----------
    n_centers : int, default=1
        Number of centres of the code book.
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
    learned_ : LearnedVLAD
        The fitted state, with the centres ``learned_.book.centers`` and the hyperplanes ``learned_.machine``.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MiVLAD(random_state=0).fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.weigh(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    learns = LearnedVLAD

    def __init__(
        self,
        n_centers: int = 1,
        C: float = 1.0,
        scaling: Literal["clipped", "standard", "none"] = "clipped",
        calibration: bool = True,
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_centers = n_centers
        self.C = C
        self.scaling = scaling
        self.calibration = calibration
        self.positive = positive
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> LearnedVLAD:
        book = learn_centers(bags.instances, self.n_centers, seed)
        return LearnedVLAD(book, fit_linear_classifier(compute_bag_vectors(book, bags), targets, self.C))


def learn_centers(rows: np.ndarray, n_centers: Any, seed: int) -> Centers:
    """Fit k-means to rows, with one thread, because the order of sums varies with several threads."""
    n_clusters = check_whole_number("n_centers", n_centers, minimum=1)
    if n_clusters > len(rows):
        raise InputError(f"n_centers is {n_clusters}, but the training bags have only {len(rows)} instances; use fewer")
    seed = random_integer(seed, Purpose.INITIALIZATION) % (1 << 32)
    with warnings.catch_warnings(), threadpool_limits(1, "openmp"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # coincident centres only give a block of zeros
        solver = KMeans(n_clusters, n_init=N_INITIALIZATIONS, random_state=seed).fit(rows)
    return Centers(solver.cluster_centers_)
