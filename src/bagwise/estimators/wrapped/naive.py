"""The naive baseline: every instance inherits the label of its bag, and any classifier of scikit-learn learns them.

    mean    p(Y = c | X) = meanₖ p(c | xₖ)
    max     score(X) = maxₖ score(xₖ), class by class

A score is the log-odds of the second of two classes, else the log-probability of each class. Weights are those of the
pooling: 1/K under the mean, all for the winner under the maximum (averaged over the scores where there are several).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bagwise import likelihoods
from bagwise.bags import Bags
from bagwise.estimators.wrapped.wrapping import LearnedClassifier, WrappingEstimator
from bagwise.names import choose
from bagwise.pooling import Max, Mean
from bagwise.pooling.contract import Pooled, Settings
from bagwise.training.batches import tensor

POOLINGS = {"mean": Mean, "max": Max}


@dataclass(frozen=True)
class LearnedNaive(LearnedClassifier):
    classifier: Any
    pooling: str

    def instance_scores(self, bags: Bags) -> np.ndarray:
        """(n_instances, n_scores): the score of each instance alone."""
        return self.classifier_scores(bags.instances)

    def scores(self, bags: Bags) -> np.ndarray:
        return self._pooled(bags).values.numpy()

    def shares(self, bags: Bags) -> np.ndarray:
        return self._pooled(bags).weights.numpy().mean(axis=1)

    def _pooled(self, bags: Bags) -> Pooled:
        scores = self.instance_scores(bags)
        likelihood = likelihoods.for_classes(len(self.classifier.classes_))
        pooling = choose(self.pooling, POOLINGS, "pooling").for_scores(scores.shape[1], likelihood, Settings())
        return pooling(tensor(scores), tensor(bags.offsets))


class NaiveClassifier(WrappingEstimator):
    """A classifier of scikit-learn on instances that carry the label of their bag.

    estimator : the classifier; None stands for ExtraTreesClassifier()
    pooling : "mean" of the instances' probabilities, or "max"
    standardize : learn mean and deviation of each feature (or channel) from the training instances
    random_state : a whole number makes every fit the same; it seeds the classifier unless that has a seed of its own
    """

    learned_: LearnedNaive

    def __init__(
        self,
        estimator: Any = None,
        pooling: Any = "mean",
        standardize: Any = True,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.pooling = pooling
        self.standardize = standardize
        self.random_state = random_state

    def score_instances(self, X: Any) -> np.ndarray:
        """Each instance's own score: (n_instances,) for two classes, else (n_instances, n_classes)."""
        bags = self._known_bags(X)
        return self.likelihood_.decisions(self.learned_.instance_scores(self._scaled(bags)))

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> LearnedNaive:
        choose(self.pooling, POOLINGS, "pooling")
        return self._wrap(self._fitted(bags.instances, targets.repeat(bags.sizes), seed))

    def _wrap(self, classifier: Any) -> LearnedNaive:
        return LearnedNaive(classifier, self.pooling)
