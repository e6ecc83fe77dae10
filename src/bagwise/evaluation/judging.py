"""One fitted estimator on bags it has not seen: predictions, weights, and metrics with their intervals."""

from typing import Any, NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.evaluation.bag_metrics import bag_metrics
from bagwise.evaluation.instance_metrics import instance_metrics
from bagwise.evaluation.intervals import bootstrap


class Evaluation(NamedTuple):
    """What was predicted, and how good it is; ``metrics`` is plain JSON."""

    probabilities: np.ndarray
    weights: np.ndarray
    metrics: dict[str, Any]


def evaluate(estimator: BagClassifier, bags: Bags, y: np.ndarray) -> Evaluation:
    """Judge bags with known labels; key-instance metrics come along where instance labels exist."""
    unknown = sorted({str(label) for label in y if label not in estimator.classes_})
    if unknown:
        known = ", ".join(map(str, estimator.classes_))
        raise InputError(f"labels {', '.join(unknown)} are unknown to the model, which was trained on: {known}")
    targets = np.searchsorted(estimator.classes_, y)
    probabilities, weights = estimator.judge(bags)
    intervals = bootstrap(targets, probabilities, bags.groups)
    metrics: dict[str, Any] = {
        "n_bags": bags.n_bags,
        "n_instances": bags.n_instances,
        "bags": {
            name: {"value": value, "interval": intervals[name]}
            for name, value in bag_metrics(targets, probabilities).items()
        },
    }
    if bags.instance_labels is not None:
        scores = estimator.score_instances(bags)
        metrics["instances"] = {"weights": instance_metrics(bags, weights)}
        if scores.ndim == 1:
            metrics["instances"]["scores"] = instance_metrics(bags, scores)
    return Evaluation(probabilities, weights, metrics)
