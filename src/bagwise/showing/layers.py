"""What is drawn over the instances of a bag: weight, contribution to a class, probability of a class.

weight         the run's own, weights.npy: what `evaluate` judged by
contribution   signed; sums to the bag's score minus a baseline (bagwise.explain)
probability    of a bag that holds this instance alone, by the run's model
"""

from collections.abc import Callable

import numpy as np

from bagwise.bags import Bags
from bagwise.estimators import BagEstimator
from bagwise.explain import Explanation, explain
from bagwise.explain.heatmaps import Layer
from bagwise.showing.keeping import Kept
from bagwise.showing.shown_run import ShownRun

LAYERS = ("weight", "contribution", "probability")
BAGS_KEPT = 16


def as_drawn(layer: str, values: np.ndarray, class_name: str) -> Layer:
    """Values of a layer as they are drawn: contributions are coloured around zero, and weights are of no class."""
    return Layer(values, layer, None if layer == "weight" else class_name, signed=layer == "contribution")


class Layers:
    """The layers of the bags of one run; those that need the model are computed once and kept for a while."""

    def __init__(self, shown: ShownRun) -> None:
        self._shown = shown
        self._explanations = Kept(BAGS_KEPT, self._explain)
        self._alone = Kept(BAGS_KEPT, self._judge_alone)
        self._columns: dict[str, Callable[[int, int], np.ndarray]] = {
            "weight": lambda bag, number: self.weights(bag),
            "contribution": lambda bag, number: self.explanation(bag).contributions[:, number],
            "probability": lambda bag, number: self.probabilities(bag)[:, number],
        }

    def values(self, layer: str, bag: int, class_number: int) -> np.ndarray:
        """(n_instances,) of a layer; weights are the same for every class."""
        return self._columns[layer](bag, class_number)

    def weights(self, bag: int) -> np.ndarray:
        return self._shown.run.weights[self._shown.rows(bag)]

    def explanation(self, bag: int) -> Explanation:
        return self._explanations.get(bag)

    def probabilities(self, bag: int) -> np.ndarray:
        """(n_instances, n_classes) of each instance alone."""
        return self._alone.get(bag)

    def _explain(self, bag: int) -> Explanation:
        with self._shown.judging:
            return explain(self._shown.model, self._shown.bag(bag))

    def _judge_alone(self, bag: int) -> np.ndarray:
        with self._shown.judging:
            return judge_alone(self._shown.model, self._shown.bag(bag))


def judge_alone(estimator: BagEstimator, bag: Bags) -> np.ndarray:
    """(n_instances, n_classes): the probabilities of bags that hold one instance each."""
    alone = Bags.trusted(instances=bag.instances, offsets=np.arange(bag.n_instances + 1))
    return estimator.predict_proba(alone)
