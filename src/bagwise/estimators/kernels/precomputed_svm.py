"""A support vector machine on a kernel between bags, one class against the rest, as plain arrays.

score_c(X) = Σⱼ αⱼ_c k(X, Xⱼ) + b_c
"""

from typing import NamedTuple

import numpy as np
from sklearn.svm import SVC

from bagwise.likelihoods import for_classes

TOLERANCE = 1e-6  # libsvm's own 1e-3 lets the rounding of a kernel show in the fourth digit of a score


class Duals(NamedTuple):
    """What the machines learned of a kernel; a bag that supports none of them has zeros."""

    coefficients: np.ndarray  # (n_bags, n_scores)
    intercepts: np.ndarray  # (n_scores,)

    @property
    def support(self) -> np.ndarray:
        """The bags that count."""
        return np.flatnonzero(self.coefficients.any(axis=1))


def one_against_rest(kernel: np.ndarray, targets: np.ndarray, penalty: float) -> Duals:
    """One machine a score: of two classes the second against the first, else each class against all others.

    >>> one_against_rest(np.eye(2), np.array([0, 1]), penalty=1.0).coefficients.ravel()
    array([-1.,  1.])
    """
    n_classes = int(targets.max()) + 1
    positives = range(n_classes)[-for_classes(n_classes).n_scores :]
    machines = [_machine(kernel, targets == positive, penalty) for positive in positives]
    return Duals(
        np.column_stack([coefficients for coefficients, _ in machines]),
        np.array([intercept for _, intercept in machines]),
    )


def _machine(kernel: np.ndarray, positive: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
    machine = SVC(kernel="precomputed", C=penalty, tol=TOLERANCE).fit(kernel, positive)
    coefficients = np.zeros(len(kernel))
    coefficients[machine.support_] = machine.dual_coef_[0]
    return coefficients, float(machine.intercept_[0])
