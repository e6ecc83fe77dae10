"""Any classifier of scikit-learn on pooled bags: a bag is the mean, the least and the greatest value of each feature.

    z = (meanₖ xₖ, minₖ xₖ, maxₖ xₖ)        score = classifier(z)

With extremely randomised trees (Geurts et al. 2006) a strong and cheap baseline. The weight says how much of z is an
instance's: 1/K of each mean, all of the least and greatest values that are its own (ties share), averaged over the
columns of z by the importance that the classifier gives them (``feature_importances_``, or the size of ``coef_``), or
evenly where it does not tell. That importance is one for all bags: the weight does not know how this one was judged.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bagwise import segments
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.wrapped.wrapping import LearnedClassifier, WrappingEstimator
from bagwise.names import choose
from bagwise.pooling.contract import uniform
from bagwise.quantities import shown
from bagwise.segments import Offsets, PerBag, Rows
from bagwise.training.batches import tensor


class Statistic(NamedTuple):
    """How a statistic is taken, and what share in it each instance has, column by column."""

    values: Callable[[Rows, Offsets], PerBag]
    shares: Callable[[Rows, Offsets], Rows]


STATISTICS = {
    "mean": Statistic(segments.mean, lambda rows, offsets: uniform(rows, offsets).expand_as(rows)),
    "min": Statistic(
        lambda rows, offsets: -segments.max(-rows, offsets), lambda rows, offsets: segments.winners(-rows, offsets)
    ),
    "max": Statistic(segments.max, segments.winners),
}


@dataclass(frozen=True)
class LearnedPooled(LearnedClassifier):
    classifier: Any
    statistics: tuple[str, ...]

    def scores(self, bags: Bags) -> np.ndarray:
        return self.classifier_scores(pool(bags, self.statistics))

    def shares(self, bags: Bags) -> np.ndarray:
        rows, offsets = tensor(bags.instances), tensor(bags.offsets)
        counts = np.split(importances(self.classifier, rows.shape[1] * len(self.statistics)), len(self.statistics))
        shares = (statistic(name).shares(rows, offsets).numpy() for name in self.statistics)
        return sum(share @ count for share, count in zip(shares, counts, strict=True))


class PooledClassifier(WrappingEstimator):
    """A classifier of scikit-learn on the mean, least and greatest value of each feature in a bag.

    estimator : the classifier; None stands for ExtraTreesClassifier()
    statistics : which of "mean", "min", "max"
    standardize : learn mean and deviation of each feature (or channel) from the training instances
    random_state : a whole number makes every fit the same; it seeds the classifier unless that has a seed of its own

    >>> from sklearn.linear_model import LogisticRegression
    >>> from bagwise.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> PooledClassifier(LogisticRegression()).fit(bags, bags.labels).predict_proba(bags).shape
    (60, 2)
    """

    def __init__(
        self,
        estimator: Any = None,
        statistics: Any = ("mean", "min", "max"),
        standardize: Any = True,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.statistics = statistics
        self.standardize = standardize
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> LearnedPooled:
        rows = pool(bags, _checked(self.statistics))
        return self._wrap(self._fitted(rows, targets, seed))

    def _wrap(self, classifier: Any) -> LearnedPooled:
        statistics = tuple(_checked(self.statistics))
        columns, known = len(statistics) * math.prod(self.instance_shape_), getattr(classifier, "n_features_in_", None)
        if known not in (None, columns):
            raise InputError(f"the classifier knows {known} columns, and {len(statistics)} statistics make {columns}")
        return LearnedPooled(classifier, statistics)


def statistic(name: Any) -> Statistic:
    """The statistic of that name."""
    return choose(name, STATISTICS, "statistic")


def pool(bags: Bags, statistics: Sequence[str]) -> np.ndarray:
    """The statistics of each bag side by side, (n_bags, columns)."""
    rows, offsets = tensor(bags.instances), tensor(bags.offsets)
    return np.concatenate([statistic(name).values(rows, offsets).numpy() for name in statistics], axis=1)


def importances(classifier: Any, n_columns: int) -> np.ndarray:
    """How much the classifier relies on each column, summing to one; even where it does not tell."""
    if hasattr(classifier, "feature_importances_"):
        sizes = classifier.feature_importances_
    else:
        sizes = np.abs(np.atleast_2d(getattr(classifier, "coef_", np.ones(n_columns)))).sum(axis=0)
    return sizes / sizes.sum() if sizes.sum() > 0 else np.full(n_columns, 1 / n_columns)


def _checked(statistics: Any) -> Any:
    if isinstance(statistics, str) or not isinstance(statistics, Sequence) or not statistics:
        raise InputError(
            f"statistics is {shown(statistics)}; give some of {', '.join(STATISTICS)}, e.g. ('mean', 'max')"
        )
    return statistics
