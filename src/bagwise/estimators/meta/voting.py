"""The base class of meta-estimators that fit several members to the same bags and average their predictions.

    p = Σₘ vₘ pₘ        a = Σₘ vₘ aₘ        spread = standard deviation over the members

The ensemble weights v of the members sum to one; they are equal unless learned.
"""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from torch import Tensor, nn

from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator, BagPredictions
from bagwise.estimators.class_predictor import ClassPredictor
from bagwise.estimators.meta.base import (
    can_score_instances,
    check_estimators,
    learn_common_target,
    restore_member,
    set_positive,
    supports_multiclass,
)
from bagwise.estimators.serialization import from_plain, to_plain
from bagwise.estimators.validation import BagsLike
from bagwise.nn import Purpose, random_integer
from bagwise.targets import Target


class Spread(NamedTuple):
    """Standard deviations over the members of an ensemble."""

    outputs: np.ndarray  # (n_bags, n_outputs)
    weights: np.ndarray  # (n_instances,)


class Voting(ClassPredictor, BagEstimator):
    """Abstract base class of meta-estimators that average the predictions of their members.

    Attributes
    ----------
    members_ : list of BagEstimator
        The fitted members.
    member_weights_ : ndarray of shape (n_members,) or None
        The ensemble weights of the members, which sum to one; None means equal weights.
    """

    members_: list[BagEstimator]
    member_weights_: np.ndarray | None = None

    @abstractmethod
    def _get_estimators(self) -> dict[str, Any]:
        """Return the estimators to fit, as passed to the constructor, by their names in messages."""

    def average(self, values: Any) -> Any:
        """Average values over the members, with their ensemble weights.

        Parameters
        ----------
        values : array-like of shape (n_members, …)
            Values per member.

        Returns
        -------
        ndarray of shape (…)
            The weighted average.
        """
        return np.average(values, axis=0, weights=self.member_weights_)

    @property
    def decision_threshold(self) -> float:
        """The average of the thresholds of the members, because their probabilities are averaged too."""
        return float(self.average([member.decision_threshold for member in self.members_]))

    def learn_target(self, y: npt.ArrayLike, n_bags: int) -> Target:
        templates = [clone(template) for template in check_estimators(self._get_estimators())]
        return learn_common_target([set_positive(template, self.positive) for template in templates], y, n_bags)

    def predict_outputs(self, X: BagsLike) -> np.ndarray:
        bags = self._check_bags(X)
        return self._average_outputs([member.predict_outputs(bags) for member in self.members_])

    def weigh(self, X: BagsLike) -> np.ndarray:
        bags = self._check_bags(X)
        return self.average([member.weigh(bags) for member in self.members_])

    def predict_with_weights(self, X: BagsLike) -> BagPredictions:
        predictions = self._predict_by_member(X)
        return BagPredictions(self._average_outputs(predictions.outputs), self.average(predictions.weights))

    def spread(self, X: BagsLike) -> Spread:
        """Compute the standard deviation of outputs and instance weights over the members.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Bags to predict.

        Returns
        -------
        Spread
            Named tuple of ``outputs``, of shape (n_bags, n_outputs), and ``weights``, of shape (n_instances,).
        """
        predictions = self._predict_by_member(X)
        return Spread(self._compute_deviation(predictions.outputs), self._compute_deviation(predictions.weights))

    @available_if(can_score_instances)
    def score_instances(self, X: BagsLike) -> np.ndarray:
        """Score each instance as a bag of its own.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Bags whose instances are scored.

        Returns
        -------
        ndarray of shape (n_instances,) or (n_instances, n_classes)
            One score per instance for two classes, else one score per class.
        """
        return self.likelihood_.decisions(self._compute_scores(self._check_bags(X).singletons()))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = supports_multiclass(self._get_estimators())
        return tags

    def _copy_with_seeds(self, estimators: Iterable[BagEstimator]) -> list[BagEstimator]:
        """Copy the estimators with the positive class of the ensemble, each with a seed derived from its position."""
        return [
            set_positive(clone(estimator), self.positive).set_params(
                random_state=random_integer(self.seed_, Purpose.INITIALIZATION, position)
            )
            for position, estimator in enumerate(estimators)
        ]

    def _predict_by_member(self, X: BagsLike) -> BagPredictions:
        """Return the predictions of all members, stacked along a first axis."""
        bags = self._check_bags(X)
        predictions = [member.predict_with_weights(bags) for member in self.members_]
        return BagPredictions(
            np.array([each.outputs for each in predictions]), np.array([each.weights for each in predictions])
        )

    def _average_outputs(self, outputs: Any) -> np.ndarray:
        return self.target_.average_outputs(np.asarray(outputs), self.member_weights_)

    def _compute_deviation(self, values: np.ndarray) -> np.ndarray:
        return np.sqrt(self.average((values - self.average(values)) ** 2))

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        members: list[dict[str, Any]] = []
        tensors: dict[str, Tensor] = {}
        for position, member in enumerate(self.members_):
            _check_modules(member)
            metadata, member_tensors = member._content()
            members.append({"member": to_plain(member), "learned": metadata})
            tensors |= {f"{_make_prefix(position)}{name}": value for name, value in member_tensors.items()}
        return {"members": members}, tensors

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.members_ = [from_plain(saved["member"], self.kinds) for saved in metadata["members"]]
        for position, member in enumerate(self.members_):
            prefix = _make_prefix(position)
            own = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
            restore_member(self, member, member.random_state, metadata["members"][position]["learned"], own)


def _make_prefix(position: int) -> str:
    return f"member.{position}."


def _check_modules(member: BagEstimator) -> None:
    """Reject members with custom modules, because ``load`` cannot pass modules to members."""
    for name, value in member.get_params().items():
        if isinstance(value, nn.Module):
            raise InputError(
                f"the members include a {type(member).__name__} with a custom module for {name}, so they cannot be "
                "saved together; save each estimator in members_ separately"
            )
