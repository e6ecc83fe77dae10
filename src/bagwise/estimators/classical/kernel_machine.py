"""Support vector machines with kernels between bags, one-vs-rest for several classes.

    score_c(X) = Σⱼ αⱼ_c k(X, Xⱼ) + b_c

If the kernel is a sum over pairs of instances (see ``bag_kernels``), the score is a sum over the instances of the bag,
so each instance has a contribution to the score:

    score(X) = Σₐ uₐ f(xₐ) + b        f(x) = Σₛ βₛ exp(−γ ‖x − xₛ‖²)        βₛ = αⱼ uₛ for xₛ of support bag j

The weights are the contributions that support the decision: the positive contributions to the score of the predicted
class, normalised within the bag. (With two classes, the score of the first class is the negative score.) All weights
are equal if no contribution is positive.

The defaults of the estimators (C = 10, gamma as in scikit-learn, power 2 of the minimax kernel) were chosen on three
data sets that are not among the paper's five (ucsb-breast, newsgroups-1 and brown-creeper): one setting for all three,
which was within noise of the best setting of a grid.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from sklearn.svm import SVC

from bagwise.arguments import check_real_number
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical.bag_kernels import compute_gram_matrix, expand_kernel
from bagwise.estimators.classical.base import FittedState
from bagwise.nn import segment_sum
from bagwise.training import array_to_tensor

Gamma = float | Literal["scale"]  # the type of the constructor parameter gamma
State = TypeVar("State", bound="SupportBags")
TOLERANCE = 1e-6  # with libsvm's default, 1e-3, rounding errors of the kernel change the fourth digit of a score


def resolve_gamma(gamma: Any, rows: np.ndarray) -> float:
    """Return gamma as a number; "scale" means 1 / (width · variance of the rows), or 1 if the variance is zero.

    For standardised rows, "scale" is 1 / number of features that vary.

    >>> resolve_gamma("scale", np.array([[-1.0, 1.0], [1.0, -1.0]]))
    0.5
    """
    if isinstance(gamma, str):
        if gamma != "scale":
            raise InputError(f"gamma is '{gamma}'; it must be a number above 0, or 'scale'")
        total_variance = float(rows.shape[1] * rows.var())
        return 1 / total_variance if total_variance > 0 else 1.0
    return check_real_number("gamma", gamma, above=0)


class Duals(NamedTuple):
    """Dual coefficients of support vector machines; zero for bags that are not support vectors of any machine."""

    coefficients: np.ndarray  # (n_bags, n_scores)
    intercepts: np.ndarray  # (n_scores,)

    @property
    def support(self) -> np.ndarray:
        """Indices of the support bags."""
        return np.flatnonzero(self.coefficients.any(axis=1))


def fit_one_against_rest(kernel: np.ndarray, targets: np.ndarray, n_scores: int, penalty: float) -> Duals:
    """Fit one support vector machine per score: the last of two classes against the first, else one-vs-rest.

    >>> fit_one_against_rest(np.eye(2), np.array([0, 1]), n_scores=1, penalty=1.0).coefficients.ravel()
    array([-1.,  1.])
    """
    scored_classes = np.unique(targets)[-n_scores:]
    machines = [_fit_machine(kernel, targets == number, penalty) for number in scored_classes]
    return Duals(
        np.column_stack([coefficients for coefficients, _ in machines]),
        np.array([intercept for _, intercept in machines]),
    )


def _fit_machine(kernel: np.ndarray, positive: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
    machine = SVC(kernel="precomputed", C=penalty, tol=TOLERANCE).fit(kernel, positive)
    coefficients = np.zeros(len(kernel))
    coefficients[machine.support_] = machine.dual_coef_[0]
    return coefficients, float(machine.intercept_[0])


@dataclass(frozen=True)
class SupportBags(FittedState):
    """Abstract base class of support vector machines whose kernels differ only in the masses u of the instances.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, width)
        The instances of all support bags.
    coefficients : ndarray of shape (n_rows, n_scores)
        The coefficients β.
    intercepts : ndarray of shape (n_scores,)
        The intercepts b.
    gamma : float
        γ of the kernel between instances.
    """

    rows: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    gamma: float

    @staticmethod
    @abstractmethod
    def masses(bags: Bags, gamma: float) -> np.ndarray:
        """Compute the masses u, of shape (n_instances,); the mass is one if a bag has one instance."""

    @classmethod
    def learn(cls: type[State], bags: Bags, targets: np.ndarray, n_scores: int, gamma: float, penalty: float) -> State:
        """Fit the support vector machine, and keep its support bags.

        Parameters
        ----------
        bags : Bags
            Bags of scaled rows.
        targets : ndarray of shape (n_bags,)
            Class numbers.
        n_scores : int
            Number of scores per bag: one for two classes, else one per class.
        gamma : float
            γ of the kernel between instances.
        penalty : float
            C of the support vector machine.

        Returns
        -------
        SupportBags
            The fitted state.
        """
        masses = cls.masses(bags, gamma)
        duals = fit_one_against_rest(compute_gram_matrix(bags, masses, gamma), targets, n_scores, penalty)
        coefficients = duals.coefficients[bags.bag_indices] * masses[:, None]
        is_support = np.isin(bags.bag_indices, duals.support)
        return cls(
            rows=bags.instances[is_support],
            coefficients=coefficients[is_support],
            intercepts=duals.intercepts,
            gamma=gamma,
        )

    def scores(self, bags: Bags) -> np.ndarray:
        return _sum_per_bag(self.contributions(bags), bags) + self.intercepts

    def instance_scores(self, bags: Bags) -> np.ndarray:
        """Score each instance as a bag of its own; shape (n_instances, n_scores)."""
        return self.scores(bags.singletons())

    def shares(self, bags: Bags) -> np.ndarray:
        contributions = self.contributions(bags)
        return compute_decisive_weights(contributions, _sum_per_bag(contributions, bags) + self.intercepts, bags)

    def contributions(self, bags: Bags) -> np.ndarray:
        """Compute contributions of shape (n_instances, n_scores), which sum to score − intercept in each bag."""
        return expand_kernel(bags.instances, self.masses(bags, self.gamma), self.rows, self.coefficients, self.gamma)


def compute_decisive_weights(contributions: np.ndarray, scores: np.ndarray, bags: Bags) -> np.ndarray:
    """Compute the weight of each instance from its contribution to the score of the predicted class.

    >>> bags = Bags.from_list([[[0.0], [0.0]], [[0.0], [0.0]]])
    >>> compute_decisive_weights(np.array([[3.0], [1.0], [-2.0], [1.0]]), np.array([[1.0], [-1.0]]), bags)
    array([0.75, 0.25, 1.  , 0.  ])
    """
    if scores.shape[1] == 1:  # the score of the first of two classes is the negative score
        contributions, scores = np.hstack([-contributions, contributions]), np.hstack([-scores, scores])
    predicted = scores.argmax(axis=1)[bags.bag_indices]
    supporting = contributions[np.arange(len(contributions)), predicted].clip(min=0)
    totals = _sum_per_bag(supporting[:, None], bags)[bags.bag_indices, 0]
    uniform = 1 / bags.sizes[bags.bag_indices]
    return np.divide(supporting, totals, out=uniform, where=totals > 0)


def _sum_per_bag(values: np.ndarray, bags: Bags) -> np.ndarray:
    return segment_sum(array_to_tensor(values), array_to_tensor(bags.offsets)).numpy()
