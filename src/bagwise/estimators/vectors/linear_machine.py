"""A linear machine: one hyperplane for two classes, else one for each class against the rest (Fan et al. 2008).

score(v) = w · v + b        ½ ‖w, b‖² + C Σ max(0, 1 − y · score(v))²  is least
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from bagwise.quantities import real_number

MOST_STEPS = 10_000


@dataclass(frozen=True)
class LinearMachine:
    """Hyperplanes as plain arrays."""

    weights: np.ndarray  # (n_scores, width)
    biases: np.ndarray  # (n_scores,)

    def scores(self, vectors: np.ndarray) -> np.ndarray:
        """(n_bags, n_scores): one score for two classes, else one a class."""
        return vectors @ self.weights.T + self.biases


def fit_linear_machine(vectors: np.ndarray, targets: np.ndarray, C: Any) -> LinearMachine:
    """Learn from one vector a bag with liblinear, in the primal: nothing is drawn, so the same bits come out again."""
    solver = LinearSVC(C=real_number("C", C, above=0), dual=False, max_iter=MOST_STEPS).fit(vectors, targets)
    return LinearMachine(solver.coef_, solver.intercept_)
