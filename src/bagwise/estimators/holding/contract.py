"""What every estimator that holds another one shares: which one that is, and what it lets be known of it."""

from typing import Any

from sklearn.utils import get_tags

from bagwise.errors import InputError
from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.wrapped.pooled import PooledClassifier
from bagwise.quantities import shown


class HoldingEstimator(BagEstimator):
    """Base of the estimators that hold another one.

    estimator : any estimator of bags; None stands for PooledClassifier()
    """

    estimator: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = get_tags(self._chosen()).classifier_tags.multi_class
        return tags

    def _chosen(self) -> Any:
        return PooledClassifier() if self.estimator is None else self.estimator

    def _held(self) -> BagEstimator:
        """The estimator, if it is one of bags."""
        chosen = self._chosen()
        if not isinstance(chosen, BagEstimator):
            raise InputError(f"estimator is {shown(chosen)}; give an estimator of bags, e.g. BagClassifier()")
        return chosen


def scores_instances(holder: Any) -> bool:
    """Whether the estimator that is held scores instances."""
    return hasattr(holder._chosen(), "score_instances")
