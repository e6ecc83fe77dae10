"""The base class of methods that fit a scikit-learn classifier to rows computed from bags.

Probabilities are those of the classifier. If the classifier has no ``predict_proba``, its decision function is used as
log-odds; for calibrated probabilities, wrap it in ``CalibratedClassifierCV``.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils.validation import has_fit_parameter
from torch import Tensor

from bagwise.arguments import describe_value
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.class_predictor import ClassPredictor
from bagwise.estimators.classical.base import (
    FittedState,
    normalize_weights,
    scaling_from_tensors,
    scaling_to_tensors,
)
from bagwise.estimators.classical.scaled_bags import iterate_scaled_groups
from bagwise.estimators.classical.skops_files import dump_classifier, load_classifier
from bagwise.estimators.validation import BagsLike, check_sample_weight
from bagwise.nn import Purpose, Scaling, fit_scaling, random_integer
from bagwise.targets import ClassLikelihood


class LearnedClassifier(FittedState):
    """Abstract base class of fitted states: a fitted classifier, and the computation of its rows from bags.

    Attributes
    ----------
    classifier : classifier
        The fitted scikit-learn classifier; of two classes, number 1 is the positive one.
    likelihood : ClassLikelihood
        Relation between its probabilities and scores.
    """

    classifier: Any
    likelihood: ClassLikelihood

    def classifier_scores(self, rows: np.ndarray) -> np.ndarray:
        """Compute scores of shape (n_rows, n_scores): one score for two classes, else one per class."""
        if not hasattr(self.classifier, "predict_proba"):
            return self.classifier.decision_function(rows).reshape(len(rows), self.likelihood.n_scores)
        return self.likelihood.link(self.classifier.predict_proba(rows))


class WrappingEstimator(ClassPredictor, BagEstimator):
    """Abstract base class of methods that fit a scikit-learn classifier to rows computed from bags.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A scikit-learn classifier; None means ``ExtraTreesClassifier()``.
    scaling : {"clipped", "standard", "none"}, default="clipped"
        "standard" scales each feature (or channel) to mean 0 and standard deviation 1 in the training instances;
        "clipped" also clips features to the range of the training instances; "none" leaves them unchanged.
    positive : object, default=None
        The positive one of two classes; None means the last class, or the obvious one of a common pair.
    random_state : int, RandomState or None, default=None
        Random seed; pass an int for reproducible results. Every ``random_state`` of the classifier that is None is set
        to a seed derived from it.

    Attributes
    ----------
    learned_ : LearnedClassifier
        The fitted state; ``learned_.classifier`` is the fitted classifier.
    scaling_ : Scaling
        Centre and scale of each feature.
    """

    target = "classes"
    estimator: Any
    scaling: Any
    learned_: Any
    scaling_: Scaling

    @abstractmethod
    def _learn(self, bags: Bags, targets: np.ndarray, seed: int, weights: np.ndarray | None) -> LearnedClassifier:
        """Fit the classifier to bags, which are not scaled yet, to class numbers, positive last, and weights."""

    @abstractmethod
    def _wrap(self, classifier: Any) -> LearnedClassifier:
        """Return the fitted state of a fitted classifier."""

    def fit(
        self, X: BagsLike, y: npt.ArrayLike | None = None, sample_weight: npt.ArrayLike | None = None
    ) -> "WrappingEstimator":
        """Fit the classifier.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.
        sample_weight : array-like of shape (n_bags,) or None, default=None
            Weight of each bag, if the classifier supports weights; None means one. Standardisation and the classes are
            computed from all bags.

        Returns
        -------
        WrappingEstimator
            The estimator itself.
        """
        bags, targets = self._check_training_input(X, y)
        self.scaling_ = fit_scaling(bags, self.scaling)
        numbers = self.target_.likelihood.order_targets(targets)
        self.learned_ = self._learn(bags, numbers, self.seed_, check_sample_weight(sample_weight, len(bags)))
        return self

    def predict_outputs(self, X: BagsLike) -> np.ndarray:
        scores = torch.from_numpy(self._compute_scores(X))
        return self.likelihood_.outputs(scores).numpy()

    def weigh(self, X: BagsLike) -> np.ndarray:
        bags = self._check_bags(X)
        groups = iterate_scaled_groups(bags, self.scaling_)
        return np.concatenate([normalize_weights(self.learned_.shares(group), group) for group in groups])

    def _compute_scores(self, X: BagsLike) -> np.ndarray:
        groups = iterate_scaled_groups(self._check_bags(X), self.scaling_)
        return np.concatenate([self.learned_.scores(group) for group in groups])

    def _fit_classifier(self, rows: np.ndarray, targets: np.ndarray, seed: int, weights: np.ndarray | None) -> Any:
        """Fit a copy of the classifier, in which every ``random_state`` that is None is set to a seed."""
        template = ExtraTreesClassifier() if self.estimator is None else self.estimator
        _check_classifier(template)
        classifier = clone(template)
        unseeded = [name for name, value in sorted(classifier.get_params().items()) if _is_missing_seed(name, value)]
        seeds = {
            name: random_integer(seed, Purpose.INITIALIZATION, index) % (1 << 32) for index, name in enumerate(unseeded)
        }
        if weights is not None and not has_fit_parameter(classifier, "sample_weight"):
            raise InputError(
                f"sample_weight: {type(classifier).__name__} does not support weights; leave them out, or choose a "
                "classifier that does, e.g. ExtraTreesClassifier() or LogisticRegression()"
            )
        weighted = {} if weights is None else {"sample_weight": weights}
        return classifier.set_params(**seeds).fit(rows, targets, **weighted)

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return {}, {**scaling_to_tensors(self.scaling_), "classifier": dump_classifier(self.learned_.classifier)}

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.scaling_ = scaling_from_tensors(tensors)
        self.learned_ = self._wrap(load_classifier(tensors["classifier"]))


def _check_classifier(classifier: Any) -> None:
    is_known = isinstance(classifier, BaseEstimator) and is_classifier(classifier)
    if not is_known or not (hasattr(classifier, "predict_proba") or hasattr(classifier, "decision_function")):
        raise InputError(
            f"estimator is {describe_value(classifier)}; it must be a scikit-learn classifier with predict_proba or "
            "decision_function, e.g. LogisticRegression()"
        )
    shapes = [value for name, value in classifier.get_params().items() if name.endswith("decision_function_shape")]
    if "ovo" in shapes:
        raise InputError(
            "the classifier has decision_function_shape='ovo', which gives one score per pair of classes; "
            "set decision_function_shape='ovr'"
        )


def _is_missing_seed(name: str, value: Any) -> bool:
    return value is None and name.split("__")[-1] == "random_state"
