"""The instance-level support vector machine of mi-SVM and MI-SVM.

    score(bag) = maxₖ f(xₖ)        f(x) = Σⱼ cⱼ k(x, zⱼ) + b

The two methods differ only in their latent variables: the labels of the instances, or the witness of each positive bag.
Both have one slack variable per negative instance. The witness of a bag is its instance of maximum score. It has all
the weight; witnesses with equal scores share it equally.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bagwise.arguments import check_real_number, check_whole_number
from bagwise.bags import Bags
from bagwise.estimators.classical.alternation import LatentVariables, minimize_alternately
from bagwise.estimators.classical.base import FittedState
from bagwise.estimators.classical.hyperplanes import ExactSpace, KernelExpansion, NystromSpace, Space, build_kernel
from bagwise.nn import Purpose, make_generator, segment_expand, segment_max, segment_sum
from bagwise.targets import weigh_classes
from bagwise.training import array_to_tensor

TIE = 1e-10  # relative difference below which scores are considered equal


@dataclass(frozen=True)
class SupportVectors(FittedState):
    """The fitted state: the decision function of instances, and the objectives of the fit."""

    function: KernelExpansion
    objectives: np.ndarray  # after each fit of a plane
    converged: bool

    def instance_scores(self, bags: Bags) -> np.ndarray:
        """Compute the scores of instances, of shape (n_instances, 1)."""
        return self.function(bags.instances)[:, None]

    def scores(self, bags: Bags) -> np.ndarray:
        return segment_max(array_to_tensor(self.instance_scores(bags)), array_to_tensor(bags.offsets)).numpy()

    def shares(self, bags: Bags) -> np.ndarray:
        scores, offsets = array_to_tensor(self.instance_scores(bags)), array_to_tensor(bags.offsets)
        maxima = segment_expand(segment_max(scores, offsets), offsets)
        witnesses = (scores >= maxima - TIE * (1 + maxima.abs())).double()
        return (witnesses / segment_expand(segment_sum(witnesses, offsets), offsets)).numpy()[:, 0]


def fit_support_vectors(estimator: Any, rows: np.ndarray, latent: LatentVariables, seed: int) -> SupportVectors:
    """Fit the decision function of MiSVM or MISVM by alternating minimisation; warn if it does not converge."""
    max_fits = check_whole_number("max_iterations", estimator.max_iterations, minimum=1)
    space = _make_space(estimator, rows, seed)
    descent = minimize_alternately(space, latent, max_fits)
    if not descent.converged:
        warnings.warn(
            f"{type(estimator).__name__} did not converge after {max_fits} iterations; increase max_iterations",
            ConvergenceWarning,
            stacklevel=4,
        )
    return SupportVectors(space.make_function(descent.plane), descent.objectives, descent.converged)


def _make_space(estimator: Any, rows: np.ndarray, seed: int) -> Space:
    kernel = build_kernel(estimator.kernel, estimator.gamma, rows)
    if estimator.components is None:
        return ExactSpace(kernel, rows)
    components = check_whole_number("components", estimator.components, minimum=1)
    return NystromSpace(kernel, rows, components, make_generator(seed, Purpose.INITIALIZATION))


def compute_costs(C: Any, class_weight: Any, classes: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Compute the cost of an error at each point: C · weight of the class of its bag.

    >>> compute_costs(2.0, {"no": 1, "yes": 3}, np.array(["no", "yes"]), np.array([True, False]))
    array([6., 2.])
    """
    cost, targets = check_real_number("C", C, above=0), positive.astype(int)
    factors = weigh_classes(class_weight, classes, classes[targets])
    for label, factor in zip(classes, factors, strict=True):
        check_real_number(f"the class_weight of {label}", factor, above=0)
    return cost * factors[targets]
