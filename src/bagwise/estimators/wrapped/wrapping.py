"""Classifiers of scikit-learn that are lent rows made of bags: how they are fitted, asked and kept.

Probabilities are the classifier's own; of one that has none, the decisions are taken for log-odds (wrap it in
``CalibratedClassifierCV`` where that is too rough).
"""

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.ensemble import ExtraTreesClassifier
from torch import Tensor

from bagwise import likelihoods, randomness
from bagwise.errors import InputError
from bagwise.estimators.classical import ClassicalEstimator
from bagwise.estimators.learned import Learned
from bagwise.estimators.wrapped.foreign import packed, unpacked
from bagwise.inputs import Scaling
from bagwise.quantities import shown
from bagwise.randomness import Purpose


class LearnedClassifier(Learned):
    """Base of what wrapping methods learn: a fitted classifier, and how bags become its rows."""

    classifier: Any

    def classifier_scores(self, rows: np.ndarray) -> np.ndarray:
        """(n_rows, n_scores), as the likelihood wants them."""
        likelihood = likelihoods.for_classes(len(self.classifier.classes_))
        if not hasattr(self.classifier, "predict_proba"):
            return self.classifier.decision_function(rows).reshape(len(rows), likelihood.n_scores)
        return scores_of(self.classifier.predict_proba(rows), likelihood)


class WrappingEstimator(ClassicalEstimator):
    """Base of the methods that lend a classifier of scikit-learn rows made of bags.

    estimator : the classifier; None stands for ExtraTreesClassifier()
    """

    calibration = 0
    learned_: LearnedClassifier

    estimator: Any

    @abstractmethod
    def _wrap(self, classifier: Any) -> LearnedClassifier:
        """What is learned, given the fitted classifier."""

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        scale = {name: torch.from_numpy(value) for name, value in self.scaling_._asdict().items()}
        return {}, {**scale, "classifier": packed(self.learned_.classifier)}

    def _restore(self, facts: dict[str, Any], numbers: dict[str, Tensor]) -> None:
        self.slope_ = 1.0
        self.scaling_ = Scaling(numbers["center"].numpy(), numbers["scale"].numpy())
        self.learned_ = self._wrap(unpacked(numbers["classifier"]))

    def _fitted(self, rows: np.ndarray, targets: np.ndarray, seed: int) -> Any:
        """A copy of the classifier, seeded wherever no seed was given, that has learned from rows."""
        chosen = ExtraTreesClassifier() if self.estimator is None else self.estimator
        _check(chosen)
        classifier = clone(chosen)
        free = [name for name, value in sorted(classifier.get_params().items()) if _is_free_seed(name, value)]
        seeds = {
            name: randomness.integer(seed, Purpose.INITIALIZATION, place) % (1 << 32) for place, name in enumerate(free)
        }
        return classifier.set_params(**seeds).fit(rows, targets)


def scores_of(probabilities: np.ndarray, likelihood: likelihoods.Likelihood) -> np.ndarray:
    """The scores that have these probabilities."""
    return likelihood.scores(likelihoods.logarithms(probabilities)).numpy()


def _check(classifier: Any) -> None:
    known = isinstance(classifier, BaseEstimator) and is_classifier(classifier)
    if not known or not (hasattr(classifier, "predict_proba") or hasattr(classifier, "decision_function")):
        raise InputError(
            f"estimator is {shown(classifier)}; give a classifier of scikit-learn that has predict_proba or "
            "decision_function, e.g. LogisticRegression()"
        )
    shapes = [value for name, value in classifier.get_params().items() if name.endswith("decision_function_shape")]
    if "ovo" in shapes:
        raise InputError("the classifier decides between pairs of classes; set its decision_function_shape to 'ovr'")


def _is_free_seed(name: str, value: Any) -> bool:
    return value is None and name.split("__")[-1] == "random_state"
