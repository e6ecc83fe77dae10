"""A scikit-learn classifier on pooled bags: a bag is represented by the mean, minimum and maximum of each feature.

    z = (meanₖ xₖ, minₖ xₖ, maxₖ xₖ)        score = classifier(z)

With extremely randomised trees (Geurts et al. 2006) it is a strong and fast baseline. The weight of an instance is its
share in z: 1/K of each mean, and all of each minimum and maximum that it attains (ties are split equally), averaged
over the columns of z by their importance for the classifier (``feature_importances_``, or the absolute values of
``coef_``; equal importances if it has neither). The importances are the same for all bags, so weights do not depend on
the prediction.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin

from bagwise.arguments import choose_by_name, describe_value
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.bag_embedder import BagEmbedder
from bagwise.estimators.base import RandomState
from bagwise.estimators.classical.scaled_bags import iterate_scaled_groups
from bagwise.estimators.classical.wrapped import LearnedClassifier, WrappingEstimator
from bagwise.estimators.validation import BagsLike
from bagwise.nn import Offsets, PerBag, Rows, segment_argmax, segment_max, segment_mean
from bagwise.nn.pooling import make_uniform_weights
from bagwise.targets import ClassLikelihood
from bagwise.training import array_to_tensor


class Statistic(NamedTuple):
    """A statistic: its values per bag, and the share of each instance in each value."""

    values: Callable[[Rows, Offsets], PerBag]
    shares: Callable[[Rows, Offsets], Rows]


STATISTICS = {
    "mean": Statistic(segment_mean, lambda rows, offsets: make_uniform_weights(rows, offsets).expand_as(rows)),
    "min": Statistic(
        lambda rows, offsets: -segment_max(-rows, offsets), lambda rows, offsets: segment_argmax(-rows, offsets)
    ),
    "max": Statistic(segment_max, segment_argmax),
}


@dataclass(frozen=True)
class LearnedPooled(LearnedClassifier):
    """The fitted state: a classifier of bags, and the statistics that are its input."""

    classifier: Any
    likelihood: ClassLikelihood
    statistics: tuple[str, ...]

    def scores(self, bags: Bags) -> np.ndarray:
        return self.classifier_scores(pool_bags(bags, self.statistics))

    def shares(self, bags: Bags) -> np.ndarray:
        rows, offsets = array_to_tensor(bags.instances), array_to_tensor(bags.offsets)
        n_columns = rows.shape[1] * len(self.statistics)
        importances = np.split(get_importances(self.classifier, n_columns), len(self.statistics))
        shares = (get_statistic(name).shares(rows, offsets).numpy() for name in self.statistics)
        return sum(share @ importance for share, importance in zip(shares, importances, strict=True))


class PooledClassifier(BagEmbedder, WrappingEstimator):
    """A scikit-learn classifier on the mean, minimum and maximum of each feature in a bag.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A scikit-learn classifier; None means ``ExtraTreesClassifier()`` (Geurts et al. 2006).
    statistics : sequence of {"mean", "min", "max"}, default=("mean", "min", "max")
        The statistics that represent a bag.
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
    learned_ : LearnedPooled
        The fitted state; ``learned_.classifier`` is the fitted classifier.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> PooledClassifier(LogisticRegression()).fit(bags, bags.labels).predict_proba(bags).shape
    (60, 2)
    """

    def __init__(
        self,
        estimator: ClassifierMixin | None = None,
        statistics: Sequence[Literal["mean", "min", "max"]] = ("mean", "min", "max"),
        scaling: Literal["clipped", "standard", "none"] = "clipped",
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.statistics = statistics
        self.scaling = scaling
        self.positive = positive
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int, weights: np.ndarray | None) -> LearnedPooled:
        return self._wrap(self._fit_classifier(self._pool(bags), targets, seed, weights))

    def _embed(self, X: BagsLike) -> np.ndarray:
        return self._pool(self._check_bags(X))

    def _pool(self, bags: Bags) -> np.ndarray:
        statistics = _check_statistics(self.statistics)
        return np.concatenate([pool_bags(group, statistics) for group in iterate_scaled_groups(bags, self.scaling_)])

    def _wrap(self, classifier: Any) -> LearnedPooled:
        statistics = tuple(_check_statistics(self.statistics))
        n_columns = len(statistics) * math.prod(self.instance_shape_)
        expected = getattr(classifier, "n_features_in_", None)
        if expected not in (None, n_columns):
            raise InputError(
                f"the saved classifier expects {expected} columns, but {len(statistics)} statistics of "
                f"{math.prod(self.instance_shape_)} features are {n_columns} columns; train again"
            )
        return LearnedPooled(classifier, self.target_.likelihood.ordered, statistics)


def get_statistic(name: Any) -> Statistic:
    """Return the statistic of a name."""
    return choose_by_name(name, STATISTICS, "statistic")


def pool_bags(bags: Bags, statistics: Sequence[str]) -> np.ndarray:
    """Compute the statistics of each bag, concatenated to rows of shape (n_bags, n_columns)."""
    rows, offsets = array_to_tensor(bags.instances), array_to_tensor(bags.offsets)
    return np.concatenate([get_statistic(name).values(rows, offsets).numpy() for name in statistics], axis=1)


def get_importances(classifier: Any, n_columns: int) -> np.ndarray:
    """Return the importances of the columns, which sum to one; equal if the classifier has no importances."""
    if hasattr(classifier, "feature_importances_"):
        sizes = classifier.feature_importances_
    else:
        sizes = np.abs(np.atleast_2d(getattr(classifier, "coef_", np.ones(n_columns)))).sum(axis=0)
    return sizes / sizes.sum() if sizes.sum() > 0 else np.full(n_columns, 1 / n_columns)


def _check_statistics(statistics: Any) -> Any:
    if isinstance(statistics, str) or not isinstance(statistics, Sequence) or not statistics:
        raise InputError(
            f"statistics is {describe_value(statistics)}; it must be a list of {', '.join(STATISTICS)}, "
            "e.g. ('mean', 'max')"
        )
    return statistics
