"""mi-Graph (Zhou, Sun & Li 2009): a support vector machine whose kernel knows which instances of a bag are alike.

    k(X, X') = Σₐ Σ_b Wₐ W'_b k(xₐ, x'_b) / (Σ W · Σ W')        Wₐ = 1 / #{u : ‖xₐ − x_u‖ ≤ δ}

A bag is a graph that joins instances nearer than δ, the mean distance in the bag. Instances of a crowd share one vote,
so what a bag holds counts and how often does not. The article leaves the distance and the pairs of the mean open: here
it is Euclidean over the scaled features, over all ordered pairs, an instance with itself included; an instance is its
own neighbour. It also leaves the kernel without unit diagonal, and so does this file.
"""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from bagwise.bags import Bags
from bagwise.estimators.kernels.gamma import resolve_gamma
from bagwise.estimators.kernels.kernel_machine import KernelMachine
from bagwise.estimators.kernels.support_bags import SupportBags
from bagwise.quantities import real_number

PAIRS_AT_ONCE = 1 << 20
TIE = 1e-9  # relative: a distance equal to the mean but for rounding is not above it, whatever the order of instances


class SupportGraphs(SupportBags):
    """Masses by which the instances of a crowd share one vote; they sum to one in a bag."""

    @staticmethod
    def masses(bags: Bags, gamma: float) -> np.ndarray:
        masses = np.ones(bags.n_instances)
        for bag in np.flatnonzero(bags.sizes > 1):
            votes = 1 / neighbours(bags[bag])
            masses[bags.offsets[bag] : bags.offsets[bag + 1]] = votes / votes.sum()
        return masses


def neighbours(rows: np.ndarray, pairs: int = PAIRS_AT_ONCE) -> np.ndarray:
    """How many instances of a bag are no farther from each than the mean distance, itself included.

    >>> neighbours(np.array([[0.0], [1.0], [9.0]]))
    array([2, 2, 1])
    """
    at_once = max(1, pairs // len(rows))
    pieces = [rows[start : start + at_once] for start in range(0, len(rows), at_once)]
    mean = sum(cdist(piece, rows).sum() for piece in pieces) / len(rows) ** 2
    return np.concatenate([(cdist(piece, rows) <= mean * (1 + TIE)).sum(axis=1) for piece in pieces])


class MiGraph(KernelMachine):
    """A support vector machine with the mi-Graph kernel.

    gamma : of the kernel between instances, a number, or "scale": 1 / (features · their variance)
    C : the penalty of a bag on the wrong side

    >>> from bagwise.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MiGraph(random_state=0).fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.weigh(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    learns = SupportGraphs

    def __init__(
        self,
        gamma: Any = "scale",
        C: Any = 10.0,
        standardize: Any = True,
        calibration: Any = 3,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.C = C
        self.standardize = standardize
        self.calibration = calibration
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> SupportGraphs:
        gamma = resolve_gamma(self.gamma, bags.instances)
        return SupportGraphs.learn(bags, targets, gamma, real_number("C", self.C, above=0))
