"""The base of mi-SVM and MI-SVM: a support vector machine of instances, fitted to what bag labels leave open.

    score(bag) = maxₖ f(xₖ)        f(x) = Σⱼ cⱼ k(x, zⱼ) + b

The two differ in the unknown alone: the labels of instances, or the witness of each bag. Both have one slack for each
negative instance. A bag's witness, the instance of its greatest score, has all the weight; witnesses alike share it.
"""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight

from bagwise import randomness, segments
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical import InstanceEstimator
from bagwise.estimators.learned import LearnedInstances
from bagwise.estimators.svm.alternation import Unknown, alternate
from bagwise.estimators.svm.kernel_expansion import KernelExpansion, build_kernel
from bagwise.estimators.svm.planes import ExactSpace, NystromSpace, Space
from bagwise.quantities import real_number, whole_number
from bagwise.randomness import Purpose
from bagwise.training.batches import tensor

ALIKE = 1e-10  # scores this near each other, relative to their size, differ by rounding


@dataclass(frozen=True)
class SupportVectors(LearnedInstances):
    """A function of instances, and the way to it."""

    function: KernelExpansion
    objectives: np.ndarray  # of each fit of a plane
    converged: bool

    def instance_scores(self, bags: Bags) -> np.ndarray:
        return self.function(bags.instances)[:, None]

    def scores(self, bags: Bags) -> np.ndarray:
        return segments.max(tensor(self.instance_scores(bags)), tensor(bags.offsets)).numpy()

    def shares(self, bags: Bags) -> np.ndarray:
        scores, offsets = tensor(self.instance_scores(bags)), tensor(bags.offsets)
        peaks = segments.spread(segments.max(scores, offsets), offsets)
        witnesses = (scores >= peaks - ALIKE * (1 + peaks.abs())).double()
        return (witnesses / segments.spread(segments.sum(witnesses, offsets), offsets)).numpy()[:, 0]


class SupportVectorEstimator(InstanceEstimator):
    """Base of the machines of instances.

    C : the cost of an error; large trusts the training bags
    kernel : "rbf" or "linear"
    gamma : width of the rbf kernel, a number or "scale": 1 / (width · variance)
    components : None for the exact kernel (up to some 30,000 instances), or the number of landmarks by which it is
        approximated (Nyström): 300 to 1,000 serve for any number of instances
    class_weight : None, "balanced" (errors in positive and in negative bags cost the same in total), or a factor for
        each class
    max_iterations : fits of a plane, at most
    """

    learns = SupportVectors
    learned_: SupportVectors

    def __init__(
        self,
        C: Any = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        components: Any = None,
        class_weight: Any = None,
        max_iterations: Any = 100,
        standardize: Any = True,
        calibration: Any = 3,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.components = components
        self.class_weight = class_weight
        self.max_iterations = max_iterations
        self.standardize = standardize
        self.calibration = calibration
        self.random_state = random_state

    @abstractmethod
    def _unknown(self, bags: Bags, positive: np.ndarray) -> Unknown:
        """What the labels leave open, in bags of which some are positive."""

    @property
    def objective_(self) -> np.ndarray:
        """The objective after each fit of a plane: it never rises."""
        return self.learned_.objectives

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> SupportVectors:
        most = whole_number("max_iterations", self.max_iterations, least=1)
        unknown = self._unknown(bags, targets == 1)
        space = self._space(bags.instances, seed)
        descent = alternate(space, unknown, most)
        if not descent.converged:
            warnings.warn(
                f"{type(self).__name__} still changed after {most} fits of a plane; raise max_iterations",
                ConvergenceWarning,
                stacklevel=3,
            )
        return SupportVectors(space.function(descent.plane), descent.objectives, descent.converged)

    def _space(self, rows: np.ndarray, seed: int) -> Space:
        kernel = build_kernel(self.kernel, self.gamma, rows)
        if self.components is None:
            return ExactSpace(kernel, rows)
        components = whole_number("components", self.components, least=1)
        return NystromSpace(kernel, rows, components, randomness.generator(seed, Purpose.INITIALIZATION))

    def _costs(self, positive: np.ndarray) -> np.ndarray:
        """What an error costs at each point of positive or negative bags."""
        cost, classes = real_number("C", self.C, above=0), positive.astype(int)
        try:
            factors = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[classes])
        except (TypeError, ValueError) as error:
            raise InputError(f"class_weight: {error}; give None, 'balanced', or a factor for each class") from None
        for label, factor in zip(self.classes_, factors, strict=True):
            real_number(f"the class_weight of {label}", factor, above=0)
        return cost * factors[classes]
