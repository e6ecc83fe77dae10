"""The base of estimators that train another one, ``model_``, and let it speak."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from torch import Tensor

from bagwise.estimators.contract import BagEstimator, Judged
from bagwise.estimators.holding.contract import HoldingEstimator, only, scores_instances

PASSED_ON = ("classes_", "instance_shape_", "n_features_in_", "extractor_")


class DelegatingEstimator(HoldingEstimator):
    """Base of the estimators that hand bags on to the estimator they hold.

    estimator : any estimator of bags; None stands for PooledClassifier()
    """

    estimator: Any
    model_: BagEstimator

    @property
    def decision_threshold(self) -> float:
        return self.model_.decision_threshold

    def predict_proba(self, X: Any) -> np.ndarray:
        bags = self._known_bags(X)
        return self.model_.predict_proba(bags)

    def weigh(self, X: Any) -> np.ndarray:
        bags = self._known_bags(X)
        return self.model_.weigh(bags)

    def judge(self, X: Any) -> Judged:
        bags = self._known_bags(X)
        return self.model_.judge(bags)

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the estimator that speaks."""
        bags = self._known_bags(X)
        return self.model_.decision_function(bags)

    @available_if(scores_instances)
    def score_instances(self, X: Any) -> np.ndarray:
        """Each instance's own score."""
        bags = self._known_bags(X)
        return self.model_.score_instances(bags)

    def _chosen(self) -> dict[str, Any]:
        return only(self.estimator)

    def _copy(self, **parameters: Any) -> Any:
        """A copy of the estimator, seeded where it has no seed of its own, with other parameters where given."""
        (chosen,) = self._held()
        seed = {"random_state": self.seed_} if chosen.get_params().get("random_state", 0) is None else {}
        return clone(chosen).set_params(**seed, **parameters)

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return self.model_._content()

    def _restore(self, facts: dict[str, Any], numbers: dict[str, Tensor]) -> None:
        self.model_ = self._copy()
        restore_held(self, self.model_, self.seed_, facts, numbers)


def restore_held(
    holder: BagEstimator, held: BagEstimator, seed: int, facts: dict[str, Any], numbers: dict[str, Tensor]
) -> None:
    """Give an estimator that another one holds what both know, then what it learned."""
    for name in PASSED_ON:
        setattr(held, name, getattr(holder, name))
    held.likelihood_ = held._likelihood(len(holder.classes_))
    held.seed_ = seed
    held._restore(facts, numbers)
