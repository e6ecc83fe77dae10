"""The minimax kernel (Gärtner, Flach, Kowalczyk & Smola 2002): bags compared by the box that holds their instances.

    s(X) = (minₐ xₐ₁, …, minₐ x_aD, maxₐ xₐ₁, …, maxₐ x_aD)        k(X, X') = (1 + γ s(X) · s(X'))ᵖ

normalised by √(k(X, X) k(X', X')). An instance's share is the share of coordinates of s(X) that are its own; where
several instances tie, they split the coordinate.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bagwise import segments
from bagwise.bags import Bags
from bagwise.estimators.kernels.gamma import resolve_gamma
from bagwise.estimators.kernels.kernel_machine import KernelMachine
from bagwise.estimators.kernels.precomputed_svm import one_against_rest
from bagwise.estimators.learned import Learned
from bagwise.quantities import real_number, whole_number
from bagwise.training.batches import tensor


@dataclass(frozen=True)
class SupportBoxes(Learned):
    """The statistics of the support bags, and how much each counts."""

    statistics: np.ndarray  # (n_support, 2 · width)
    coefficients: np.ndarray  # (n_support, n_scores)
    intercepts: np.ndarray  # (n_scores,)
    gamma: float
    power: int

    def scores(self, bags: Bags) -> np.ndarray:
        kernel = box_kernel(boxes(bags), self.statistics, self.gamma, self.power)
        return kernel @ self.coefficients + self.intercepts

    def shares(self, bags: Bags) -> np.ndarray:
        rows, offsets = tensor(bags.instances), tensor(bags.offsets)
        lowest, highest = segments.winners(-rows, offsets), segments.winners(rows, offsets)
        return ((lowest + highest).mean(dim=1) / 2).numpy()


def boxes(bags: Bags) -> np.ndarray:
    """(n_bags, 2 · width): the least and the greatest value of each feature.

    >>> boxes(Bags.from_list([[[1.0, 5.0], [2.0, 3.0]]]))
    array([[1., 3., 2., 5.]])
    """
    rows, offsets = tensor(bags.instances), tensor(bags.offsets)
    return np.hstack([-segments.max(-rows, offsets).numpy(), segments.max(rows, offsets).numpy()])


def box_kernel(left: np.ndarray, right: np.ndarray, gamma: float, power: int) -> np.ndarray:
    """The normalised polynomial kernel between statistics."""
    lengths = [np.sqrt(1 + gamma * (side**2).sum(axis=1)) for side in (left, right)]
    return ((1 + gamma * (left @ right.T)) / np.outer(*lengths)) ** power


class MinimaxKernel(KernelMachine):
    """A support vector machine with the normalised minimax kernel.

    gamma : of the polynomial, a number, or "scale": 1 / (coordinates of s · their variance)
    power : p, a whole number
    C : the penalty of a bag on the wrong side

    >>> from bagwise.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MinimaxKernel(random_state=0).fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.weigh(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    learns = SupportBoxes

    def __init__(
        self,
        gamma: Any = "scale",
        power: Any = 2,
        C: Any = 10.0,
        standardize: Any = True,
        calibration: Any = 3,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.power = power
        self.C = C
        self.standardize = standardize
        self.calibration = calibration
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> SupportBoxes:
        statistics = boxes(bags)
        gamma, power = resolve_gamma(self.gamma, statistics), whole_number("power", self.power, least=1)
        kernel = box_kernel(statistics, statistics, gamma, power)
        duals = one_against_rest(kernel, targets, real_number("C", self.C, above=0))
        kept = duals.support
        return SupportBoxes(statistics[kept], duals.coefficients[kept], duals.intercepts, gamma, power)
