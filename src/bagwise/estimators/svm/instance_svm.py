"""mi-SVM (Andrews, Tsochantaridis & Hofmann 2003): the labels of instances are guessed, within what bags allow.

    min over f, y   ½|w|² + C Σᵢ max(0, 1 − yᵢ f(xᵢ))        every instance of a negative bag has y = −1,
                                                            every positive bag has at least one y = 1

Start with y = 1 in positive bags; fit f; set y = sign f there, and y = 1 for the greatest f of a bag that has none;
repeat until y stands. That y is the best one for f (the loss is a sum, and a bag pays least at its greatest f), so the
objective never rises. "balanced" weighs an instance by the class of its bag, not by its guess, for the same reason.
"""

from dataclasses import dataclass

import numpy as np

from bagwise.bags import Bags
from bagwise.estimators.svm.alternation import Unknown, winners
from bagwise.estimators.svm.planes import Points
from bagwise.estimators.svm.support_vectors import SupportVectorEstimator


@dataclass(frozen=True)
class InstanceLabels(Unknown):
    """The labels of the instances of positive bags."""

    offsets: np.ndarray
    positive: np.ndarray  # (n_instances,): whether the instance's bag is
    costs: np.ndarray  # (n_instances,)

    def first(self) -> np.ndarray:
        return np.where(self.positive, 1, -1)

    def best(self, scores: np.ndarray) -> np.ndarray:
        return np.where(self.positive & ((scores > 0) | winners(scores, self.offsets)), 1, -1)

    def points(self, guess: np.ndarray) -> Points:
        return Points(guess, self.costs)


class MiSVM(SupportVectorEstimator):
    """mi-SVM: a support vector machine of instances whose labels are guessed; its parameters are those of the base.

    >>> from bagwise.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MiSVM(random_state=0).fit(bags, bags.labels)
    >>> model.predict(bags).shape, model.score_instances(bags).shape == (bags.n_instances,)
    ((60,), True)
    """

    def _unknown(self, bags: Bags, positive: np.ndarray) -> Unknown:
        of_instances = positive[bags.owners]
        return InstanceLabels(bags.offsets, of_instances, self._costs(of_instances))
