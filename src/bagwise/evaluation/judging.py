"""One fitted estimator on bags it has not seen: predictions, weights, and metrics with their intervals."""

from typing import Any, NamedTuple

import numpy as np

from bagwise.estimators import BagEstimator
from bagwise.estimators.taking import as_bags, known_class_numbers
from bagwise.evaluation.bag_metrics import bag_metrics
from bagwise.evaluation.instance_metrics import instance_metrics
from bagwise.evaluation.intervals import bootstrap


class Evaluation(NamedTuple):
    """What was predicted, and how good it is; ``metrics`` is plain JSON."""

    probabilities: np.ndarray
    weights: np.ndarray
    metrics: dict[str, Any]


def evaluate(estimator: BagEstimator, bags: Any, y: Any) -> Evaluation:
    """Judge bags with known labels; key-instance metrics come along where instance labels exist."""
    bags = as_bags(bags)
    targets = known_class_numbers(y, estimator.classes_, len(bags))
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
        metrics["instances"] = {"weights": instance_metrics(bags, weights)}
        scores = estimator.score_instances(bags) if hasattr(estimator, "score_instances") else None
        if scores is not None and scores.ndim == 1:
            metrics["instances"]["scores"] = instance_metrics(bags, scores)
    return Evaluation(probabilities, weights, metrics)
