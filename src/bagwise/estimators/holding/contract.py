"""What every estimator that holds others shares: which ones these are, and what it lets be known of them."""

from abc import abstractmethod
from typing import Any

from sklearn.utils import get_tags

from bagwise.errors import InputError
from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.wrapped.pooled import PooledClassifier
from bagwise.quantities import shown


class HoldingEstimator(BagEstimator):
    """Base of the estimators that hold others: it can what all of these can."""

    @abstractmethod
    def _chosen(self) -> dict[str, Any]:
        """What is held, as it was given, by what messages call it."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        held = [get_tags(each) for each in self._chosen().values()]
        tags.classifier_tags.multi_class = all(each.classifier_tags.multi_class for each in held)
        return tags

    def _held(self) -> list[BagEstimator]:
        """The estimators, if all are of bags."""
        for name, chosen in self._chosen().items():
            if not isinstance(chosen, BagEstimator):
                raise InputError(f"{name} is {shown(chosen)}; give an estimator of bags, e.g. BagClassifier()")
        return list(self._chosen().values())


def only(estimator: Any) -> dict[str, Any]:
    """What is held by those that hold one estimator; None stands for PooledClassifier()."""
    return {"estimator": PooledClassifier() if estimator is None else estimator}


def named(estimators: Any) -> dict[str, Any]:
    """What is held by those that hold several estimators, {name: estimator}."""
    if not isinstance(estimators, dict) or not estimators:
        raise InputError(
            f"estimators is {shown(estimators)}; give each member a name, e.g. "
            "{'trees': PooledClassifier(), 'kernel': MIKernel()}"
        )
    return {f"estimators['{name}']": each for name, each in estimators.items()}


def scores_instances(holder: Any) -> bool:
    """Whether every estimator that is held scores instances."""
    return all(hasattr(each, "score_instances") for each in holder._chosen().values())
