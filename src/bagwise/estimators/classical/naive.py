"""The naive baseline: every instance gets the label of its bag, and a scikit-learn classifier is fitted to instances.

    mean    p(Y = c | X) = meanₖ p(c | xₖ)
    max     score(X) = maxₖ score(xₖ), separately for each class

A score is the log-odds of the positive one of two classes, else the log-probability of each class. Weights are those of
the pooling: 1/K for the mean; for the maximum, all weight is on the instance of maximum score (averaged over classes if
there are several scores).
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from bagwise.arguments import choose_by_name
from bagwise.bags import Bags
from bagwise.estimators.base import RandomState
from bagwise.estimators.classical.scaled_bags import check_instances_fit, iterate_scaled_groups
from bagwise.estimators.classical.wrapped import LearnedClassifier, WrappingEstimator
from bagwise.estimators.validation import BagsLike
from bagwise.nn.pooling import Max, Mean, Pooled, PoolingSettings
from bagwise.targets import ClassLikelihood
from bagwise.training import array_to_tensor

POOLINGS = {"mean": Mean, "max": Max}


@dataclass(frozen=True)
class LearnedNaive(LearnedClassifier):
    """The fitted state: a classifier of instances, and the pooling of its scores."""

    classifier: Any
    likelihood: ClassLikelihood
    pooling: str

    def instance_scores(self, bags: Bags) -> np.ndarray:
        """Compute the scores of instances, of shape (n_instances, n_scores)."""
        return self.classifier_scores(bags.instances)

    def scores(self, bags: Bags) -> np.ndarray:
        return self._pool(bags).values.numpy()

    def shares(self, bags: Bags) -> np.ndarray:
        return self._pool(bags).weights.numpy().mean(axis=1)

    def _pool(self, bags: Bags) -> Pooled:
        scores = self.instance_scores(bags)
        pooling_class = choose_by_name(self.pooling, POOLINGS, "pooling")
        pooling = pooling_class.for_scores(scores.shape[1], self.likelihood, PoolingSettings())
        return pooling(array_to_tensor(scores), array_to_tensor(bags.offsets))


class NaiveClassifier(WrappingEstimator):
    """A scikit-learn classifier fitted to instances with the labels of their bags.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A scikit-learn classifier; None means ``ExtraTreesClassifier()``.
    pooling : {"mean", "max"}, default="mean"
        Whether to average the instance probabilities, or to take the maximum of the instance scores.
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
    learned_ : LearnedNaive
        The fitted state; ``learned_.classifier`` is the fitted classifier.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = NaiveClassifier(LogisticRegression(), pooling="max").fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.score_instances(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    def __init__(
        self,
        estimator: ClassifierMixin | None = None,
        pooling: Literal["mean", "max"] = "mean",
        scaling: Literal["clipped", "standard", "none"] = "clipped",
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.pooling = pooling
        self.scaling = scaling
        self.positive = positive
        self.random_state = random_state

    def score_instances(self, X: BagsLike) -> np.ndarray:
        """Score each instance.

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
        groups = iterate_scaled_groups(bags, self.scaling_)
        return self.likelihood_.decisions(np.concatenate([self.learned_.instance_scores(group) for group in groups]))

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int, weights: np.ndarray | None) -> LearnedNaive:
        choose_by_name(self.pooling, POOLINGS, "pooling")
        check_instances_fit(bags, type(self).__name__)
        rows = self.scaling_.rows(bags.instances)
        weights = None if weights is None else weights.repeat(bags.sizes)
        return self._wrap(self._fit_classifier(rows, targets.repeat(bags.sizes), seed, weights))

    def _wrap(self, classifier: Any) -> LearnedNaive:
        return LearnedNaive(classifier, self.target_.likelihood.ordered, self.pooling)
