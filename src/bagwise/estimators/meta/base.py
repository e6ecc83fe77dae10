"""Functions for all meta-estimators, and the base class of meta-estimators that delegate to one fitted estimator."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from torch import Tensor

from bagwise.arguments import describe_value
from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator, BagPredictions
from bagwise.estimators.class_predictor import ClassPredictor
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.validation import BagsLike, set_feature_names
from bagwise.targets import Target, save_target

COMMON_ATTRIBUTES = ("target_", "instance_shape_", "n_features_in_", "extractor_", "seen_")


def get_single_estimator(estimator: Any) -> dict[str, Any]:
    """Return the parameter ``estimator`` in a dict, by its name in messages; None means ``PooledClassifier()``."""
    return {"estimator": PooledClassifier() if estimator is None else estimator}


def get_named_estimators(estimators: Any) -> dict[str, Any]:
    """Return the estimators of the parameter ``estimators`` in a dict, by their names in messages."""
    if not isinstance(estimators, dict) or not estimators:
        raise InputError(
            f"estimators is {describe_value(estimators)}; it must be a dict of named estimators, e.g. "
            "{'trees': PooledClassifier(), 'kernel': MIKernel()}"
        )
    return {f"estimators['{name}']": estimator for name, estimator in estimators.items()}


def check_estimators(estimators: dict[str, Any]) -> list[BagEstimator]:
    """Return the estimators as a list; reject values that are not bag estimators."""
    for name, estimator in estimators.items():
        if not isinstance(estimator, BagEstimator):
            raise InputError(f"{name} is {describe_value(estimator)}; it must be a bag estimator, e.g. BagClassifier()")
    return list(estimators.values())


def supports_multiclass(estimators: dict[str, Any]) -> bool:
    """Return whether every estimator supports more than two classes."""
    tags = (get_tags(estimator).classifier_tags for estimator in estimators.values())
    return all(each is None or each.multi_class for each in tags)


def learn_common_target(estimators: list[BagEstimator], y: npt.ArrayLike, n_bags: int) -> Target:
    """Learn the target of several estimators; reject estimators that would learn different ones."""
    first, *others = (estimator.learn_target(y, n_bags) for estimator in estimators)
    for estimator, other in zip(estimators[1:], others, strict=True):
        if save_target(other) != save_target(first):
            raise InputError(
                f"{type(estimators[0]).__name__} and {type(estimator).__name__} have different targets, so their "
                "predictions cannot be combined; give both the same target and the same positive class"
            )
    return first


def can_learn(estimator: BagEstimator, y: npt.ArrayLike, n_bags: int) -> bool:
    """Return whether an estimator can predict labels."""
    try:
        estimator.learn_target(y, n_bags)
    except InputError:
        return False
    return True


def set_positive(estimator: BagEstimator, positive: Any) -> BagEstimator:
    """Set the positive class of an estimator and of the estimators in it; None changes nothing.

    Parameters
    ----------
    estimator : BagEstimator
        Changed in place.
    positive : object
        The positive class.

    Returns
    -------
    BagEstimator
        The estimator.
    """
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "positive"]
    return estimator if positive is None else estimator.set_params(**dict.fromkeys(names, positive))


def can_score_instances(meta_estimator: Any) -> bool:
    """Return whether every wrapped estimator can score instances."""
    return all(hasattr(estimator, "score_instances") for estimator in meta_estimator._get_estimators().values())


def restore_member(
    meta_estimator: BagEstimator, member: BagEstimator, seed: int, metadata: dict[str, Any], tensors: dict[str, Tensor]
) -> None:
    """Set the attributes that a member shares with its meta-estimator, then restore its own fitted state."""
    for name in COMMON_ATTRIBUTES:
        setattr(member, name, getattr(meta_estimator, name))
    set_feature_names(member, getattr(meta_estimator, "feature_names_in_", None))
    member.likelihood_ = member._make_likelihood(meta_estimator.target_)
    member.seed_ = seed
    member._restore(metadata, tensors)


class DelegatingEstimator(ClassPredictor, BagEstimator):
    """Abstract base class of meta-estimators that fit one estimator and delegate predictions to it.

    Parameters
    ----------
    estimator : BagEstimator or None, default=None
        Any bag estimator; None means ``PooledClassifier()``.

    Attributes
    ----------
    model_ : BagEstimator
        The fitted copy of ``estimator``.
    """

    estimator: Any
    model_: Any

    @property
    def decision_threshold(self) -> float:
        return self.model_.decision_threshold

    def learn_target(self, y: npt.ArrayLike, n_bags: int) -> Target:
        return learn_common_target(check_estimators(self._get_estimators()), y, n_bags)

    def predict_outputs(self, X: BagsLike) -> np.ndarray:
        bags = self._check_bags(X)
        return self.model_.predict_outputs(bags)

    def weigh(self, X: BagsLike) -> np.ndarray:
        bags = self._check_bags(X)
        return self.model_.weigh(bags)

    def predict_with_weights(self, X: BagsLike) -> BagPredictions:
        bags = self._check_bags(X)
        return self.model_.predict_with_weights(bags)

    @available_if(can_score_instances)
    def score_instances(self, X: BagsLike) -> np.ndarray:
        """Score each instance by the fitted estimator.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Bags whose instances are scored.

        Returns
        -------
        ndarray of shape (n_instances,) or (n_instances, n_classes)
            One score per instance for two classes, else one score per class.
        """
        bags = self._check_bags(X)
        return self.model_.score_instances(bags)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = supports_multiclass(self._get_estimators())
        return tags

    def _compute_scores(self, X: BagsLike) -> np.ndarray:
        bags = self._check_bags(X)
        return self.model_._compute_scores(bags)

    def _get_estimators(self) -> dict[str, Any]:
        return get_single_estimator(self.estimator)

    def _copy_estimator(self, **parameters: Any) -> Any:
        """Copy the estimator with other parameters; if its ``random_state`` is None, use the seed of this fit."""
        (template,) = check_estimators(self._get_estimators())
        seed = {"random_state": self.seed_} if template.get_params().get("random_state", 0) is None else {}
        return clone(template).set_params(**seed, **parameters)

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return self.model_._content()

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.model_ = self._copy_estimator()
        restore_member(self, self.model_, self.seed_, metadata, tensors)
