"""miVLAD (Wei, Wu & Zhou 2017): a bag is the sum of its instances' residuals to the nearest centre of a code book.

    c(x) has a block for each centre: x − μₖ in that of the nearest one, zeros in the others
    u = sign(v) √|v| of the sum v of codes, brought to unit length, goes to a linear machine

The centres are those of k-means over the instances of all training bags. The paper chooses their number by
cross-validation, mostly one or two, and leaves the start of k-means open: here k-means++, the best of several starts.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical import ClassicalEstimator
from bagwise.estimators.vectors.bag_vectors import CodeBook, LearnedVectors, bag_vectors
from bagwise.estimators.vectors.linear_machine import LinearMachine, fit_linear_machine
from bagwise.quantities import whole_number
from bagwise.randomness import Purpose

STARTS = 5


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
        """The centre each row belongs to: ‖x − μ‖² without ‖x‖², which is the same for all centres."""
        return ((self.centers**2).sum(axis=1) - 2 * rows @ self.centers.T).argmin(axis=1)


@dataclass(frozen=True)
class LearnedVLAD(LearnedVectors):
    book: Centers
    machine: LinearMachine


class MiVLAD(ClassicalEstimator):
    """Residuals to the centres of a code book, summed over the bag; then a linear support vector machine.

    n_centers : of the code book
    C : what an error costs the linear machine
    standardize, calibration, random_state : see ``ClassicalEstimator``
    """

    learns = LearnedVLAD

    def __init__(
        self,
        n_centers: Any = 1,
        C: Any = 1.0,
        standardize: Any = True,
        calibration: Any = 3,
        random_state: Any = None,
    ) -> None:
        self.n_centers = n_centers
        self.C = C
        self.standardize = standardize
        self.calibration = calibration
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> LearnedVLAD:
        book = learn_centers(bags.instances, self.n_centers, seed)
        return LearnedVLAD(book, fit_linear_machine(bag_vectors(book, bags), targets, self.C))


def learn_centers(rows: np.ndarray, n_centers: Any, seed: int) -> Centers:
    """k-means over rows, on one thread, because several add in any order."""
    number = whole_number("n_centers", n_centers, least=1)
    if number > len(rows):
        raise InputError(f"n_centers is {number}, and the training bags hold {len(rows)} instances; ask for fewer")
    start = randomness.integer(seed, Purpose.INITIALIZATION) % (1 << 32)
    with warnings.catch_warnings(), threadpool_limits(1, "openmp"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # two centres on one point: a block of zeros
        return Centers(KMeans(number, n_init=STARTS, random_state=start).fit(rows).cluster_centers_)
