"""What a support vector machine on a kernel between bags has learned: the instances of its support bags.

    score(X) = Σₐ uₐ f(xₐ) + b        f(x) = Σₛ βₛ exp(−γ ‖x − xₛ‖²)        βₛ = αⱼ uₛ for xₛ of support bag j

A kernel that is a sum over pairs of instances makes the score a sum over the bag's own instances, so each has its part
in it. The share of an instance is its part as far as it speaks for the decision: the positive parts (with two classes,
of the score or of its negative; with more, of the winning class's score), normalised; all alike if there are none.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from bagwise import segments
from bagwise.bags import Bags
from bagwise.estimators.kernels.bag_kernels import expansion, gram
from bagwise.estimators.kernels.precomputed_svm import one_against_rest
from bagwise.estimators.learned import Learned
from bagwise.training.batches import tensor

Kind = TypeVar("Kind", bound="SupportBags")


@dataclass(frozen=True)
class SupportBags(Learned):
    """Base of the kernels that differ in the masses of instances."""

    rows: np.ndarray  # (n_rows, width): the instances of all support bags
    coefficients: np.ndarray  # (n_rows, n_scores): β
    intercepts: np.ndarray  # (n_scores,)
    gamma: float

    @staticmethod
    @abstractmethod
    def masses(bags: Bags, gamma: float) -> np.ndarray:
        """(n_instances,): u; one for a bag of one instance."""

    @classmethod
    def learn(cls: type[Kind], bags: Bags, targets: np.ndarray, gamma: float, penalty: float) -> Kind:
        """Fit the machine and keep what it needs."""
        masses = cls.masses(bags, gamma)
        duals = one_against_rest(gram(bags, masses, gamma), targets, penalty)
        coefficients = duals.coefficients[bags.owners] * masses[:, None]
        needed = np.isin(bags.owners, duals.support)
        return cls(bags.instances[needed], coefficients[needed], duals.intercepts, gamma)

    def scores(self, bags: Bags) -> np.ndarray:
        return _totals(self.parts(bags), bags) + self.intercepts

    def shares(self, bags: Bags) -> np.ndarray:
        parts = self.parts(bags)
        return decisive_shares(parts, _totals(parts, bags) + self.intercepts, bags)

    def parts(self, bags: Bags) -> np.ndarray:
        """(n_instances, n_scores): each instance's part in its bag's score; they sum to score − intercept."""
        return expansion(bags.instances, self.masses(bags, self.gamma), self.rows, self.coefficients, self.gamma)


def decisive_shares(parts: np.ndarray, scores: np.ndarray, bags: Bags) -> np.ndarray:
    """(n_instances,): each instance's part as far as it speaks for its bag's decision.

    >>> bags = Bags.from_list([[[0.0], [0.0]], [[0.0], [0.0]]])
    >>> decisive_shares(np.array([[3.0], [1.0], [-2.0], [1.0]]), np.array([[1.0], [-1.0]]), bags)
    array([0.75, 0.25, 1.  , 0.  ])
    """
    if scores.shape[1] == 1:  # the score of the first of two classes is the negative of the second's
        parts, scores = np.hstack([-parts, parts]), np.hstack([-scores, scores])
    decided = scores.argmax(axis=1)[bags.owners]
    supporting = parts[np.arange(len(parts)), decided].clip(min=0)
    totals = _totals(supporting[:, None], bags)[bags.owners, 0]
    alike = 1 / bags.sizes[bags.owners]
    return np.divide(supporting, totals, out=alike, where=totals > 0)


def _totals(values: np.ndarray, bags: Bags) -> np.ndarray:
    return segments.sum(tensor(values), tensor(bags.offsets)).numpy()
