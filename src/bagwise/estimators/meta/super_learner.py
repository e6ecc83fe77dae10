"""A super learner (van der Laan, Polley & Hubbard 2007): methods weighted by how well they predict held-out bags."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import clone
from torch import Tensor

from bagwise.bags import Bags, Folds, make_inner_folds
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.base import BagEstimator, RandomState
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.classical.mi_vlad import MiVLAD
from bagwise.estimators.classical.naive import NaiveClassifier
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.base import check_estimators, get_named_estimators
from bagwise.estimators.meta.committee import NETWORK, SCALINGS, make_default_members
from bagwise.estimators.meta.selected import Selected
from bagwise.estimators.meta.voting import Voting
from bagwise.estimators.validation import BagsLike
from bagwise.nn import Purpose, random_integer
from bagwise.training import use_one_thread

MIN_WEIGHT = 0.01  # candidates with a smaller weight are dropped
MIN_PROBABILITY = 1e-12  # so that a single wrong prediction of probability 0 does not exclude a candidate
MAX_STEPS, TOLERANCE = 10_000, 1e-9  # of expectation maximisation
SUM_TOLERANCE = 1e-6  # rounding error allowed in the sum of the saved weights


class SuperLearner(Voting):
    """Several bag estimators whose outputs and instance weights are averaged with learned ensemble weights.

        p = Σₘ vₘ pₘ        v = argmax Σᵢ log Σₘ vₘ pₘ(yᵢ | Xᵢ)        vₘ ≥ 0, Σ v = 1

    Each pₘ(yᵢ | Xᵢ) is predicted by a copy that was fitted without bag i, by cross-validation within the training bags
    (van der Laan, Polley & Hubbard, *Super learner*, Statistical Applications in Genetics and Molecular Biology 6,
    2007). Candidates with a weight below 0.01 are dropped. Every candidate is fitted once per fold, and every member is
    also fitted to all bags.

    Parameters
    ----------
    estimators : dict of BagEstimator or None, default=None
        The candidates by name; None means minimax kernel, mi-Graph, MI-Kernel, miFV, miVLAD, attention, gated
        attention, extra trees and naive.
    folds : int, default=5
        Number of cross-validation folds for learning the ensemble weights; bags of a group stay together.
    positive : object, default=None
        The positive one of two classes, for all members; None leaves the choice to the members.
    random_state : int, RandomState or None, default=None
        Random seed; pass an int for reproducible results. The seed of each member is derived from it.

    Attributes
    ----------
    weight_by_name_ : dict of str to float
        The ensemble weight of each candidate; 0 if it was dropped.
    members_ : list of BagEstimator
        The candidates with a positive weight, fitted to all bags.
    member_weights_ : ndarray of shape (n_members,)
        The ensemble weights of the members, which sum to one.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> from bagwise.estimators import MIKernel, PooledClassifier
    >>> bags = load_dataset("needles", n_bags=60)
    >>> two = {"trees": PooledClassifier(), "kernel": MIKernel()}
    >>> model = SuperLearner(two, random_state=0).fit(bags, bags.labels)
    >>> sorted(model.weight_by_name_), round(sum(model.weight_by_name_.values()), 6)
    (['kernel', 'trees'], 1.0)
    """

    weight_by_name_: dict[str, float]

    def __init__(
        self,
        estimators: dict[str, BagEstimator] | None = None,
        folds: int = 5,
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimators = estimators
        self.folds = folds
        self.positive = positive
        self.random_state = random_state

    def fit(self, X: BagsLike, y: npt.ArrayLike | None = None) -> "SuperLearner":
        """Learn the ensemble weights by cross-validation, then fit the members to all bags.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.

        Returns
        -------
        SuperLearner
            The estimator itself.
        """
        bags, targets = self._check_training_input(X, y)
        candidates = self._copy_with_seeds(check_estimators(self._get_estimators()))
        folds = make_inner_folds(
            self.target_.make_strata(targets), bags.groups, self.folds, random_integer(self.seed_, Purpose.SPLIT, 7)
        )
        with use_one_thread():  # the last bits of a sum depend on the number of threads
            weights = learn_member_weights(self._predict_held_out(candidates, bags, targets, folds))
            positions = np.flatnonzero(weights)
            self.members_ = [candidates[position].fit(bags, self.target_.decode(targets)) for position in positions]
        self.member_weights_ = weights[positions]
        self.weight_by_name_ = dict(zip(self._get_library(), weights.tolist(), strict=True))
        return self

    def _predict_held_out(
        self, candidates: list[BagEstimator], bags: Bags, targets: np.ndarray, folds: Folds
    ) -> np.ndarray:
        """Predict held-out bags: the probability (or density) of the true target, (n_candidates, n_held_out)."""

        def predict_fold(candidate: BagEstimator, training: np.ndarray, held_out: np.ndarray) -> np.ndarray:
            copy = clone(candidate).fit(bags[training], self.target_.decode(targets[training]))
            return self.target_.likelihood.densities(copy.predict_outputs(bags[held_out]), targets[held_out])

        return np.array(
            [np.concatenate([predict_fold(candidate, *fold) for fold in folds]) for candidate in candidates]
        )

    def _get_library(self) -> Any:
        return make_default_library() if self.estimators is None else self.estimators

    def _get_estimators(self) -> dict[str, Any]:
        return get_named_estimators(self._get_library())

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        metadata, tensors = super()._content()
        return (
            {**metadata, "weight_by_name": self.weight_by_name_},
            {**tensors, "member_weights": torch.tensor(self.member_weights_)},
        )

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        super()._restore(metadata, tensors)
        self.weight_by_name_ = dict(metadata["weight_by_name"])
        weights = tensors["member_weights"].numpy()
        is_valid = weights.shape == (len(self.members_),) and (weights > 0).all()
        if not is_valid or abs(weights.sum() - 1) > SUM_TOLERANCE:
            raise InputError(
                f"the saved ensemble weights must be one positive number for each of the {len(self.members_)} members "
                "and sum to one; save the model again"
            )
        self.member_weights_ = weights


def make_default_library() -> dict[str, BagEstimator]:
    """Return the nine candidates from which the committee was chosen (experiments/committee/choose.py)."""
    return {
        **make_default_members(),
        "MI-Kernel": Selected(MIKernel(), SCALINGS),
        "miVLAD": MiVLAD(scaling="standard"),
        "attention": BagClassifier(pooling="attention", **NETWORK),
        "extra trees": PooledClassifier(scaling="standard"),
        "naive": NaiveClassifier(scaling="standard"),
    }


def learn_member_weights(probabilities: np.ndarray) -> np.ndarray:
    """Learn the ensemble weights by maximum likelihood; weights below ``MIN_WEIGHT`` are set to zero.

    The problem is convex. It is solved by expectation maximisation, which never decreases the likelihood:

        vₘ ← 1/n Σᵢ vₘ pₘᵢ / Σₗ vₗ pₗᵢ

    Parameters
    ----------
    probabilities : ndarray of shape (n_candidates, n_bags)
        The probability that each candidate predicted for the true class of each bag.

    Returns
    -------
    ndarray of shape (n_candidates,)
        Weights that sum to one.

    Examples
    --------
    >>> learn_member_weights(np.array([[0.9, 0.8, 0.9], [0.2, 0.3, 0.1]]))
    array([1., 0.])
    """
    clipped = probabilities.clip(min=MIN_PROBABILITY)
    weights = np.full(len(clipped), 1 / len(clipped))
    for _ in range(MAX_STEPS):
        previous, weights = weights, weights * (clipped / (weights @ clipped)).mean(axis=1)
        if np.abs(weights - previous).max() < TOLERANCE:
            break
    weights[weights < min(MIN_WEIGHT, weights.max())] = 0
    return weights / weights.sum()
