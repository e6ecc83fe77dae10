"""One fitted estimator on bags it has not seen: predictions, weights, and metrics with their intervals."""

from typing import Any, NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.estimators import BagEstimator
from bagwise.estimators.taking import as_bags, known_class_numbers
from bagwise.evaluation.bag_metrics import bag_metrics
from bagwise.evaluation.grouping import by_group
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
    metrics: dict[str, Any] = {
        "n_bags": bags.n_bags,
        "n_instances": bags.n_instances,
        "bags": _with_intervals(targets, probabilities, bags.groups, estimator.decision_threshold),
        "decision_threshold": estimator.decision_threshold,
    }
    if bags.groups is not None:
        metrics |= _group_metrics(targets, probabilities, bags.groups, estimator.decision_threshold)
    if bags.instance_labels is not None:
        metrics["instances"] = key_instances(estimator, bags, weights)
    return Evaluation(probabilities, weights, metrics)


def _with_intervals(
    targets: np.ndarray, probabilities: np.ndarray, groups: np.ndarray | None, threshold: float
) -> dict[str, Any]:
    intervals = bootstrap(targets, probabilities, groups, threshold)
    values = bag_metrics(targets, probabilities, threshold)
    return {name: {"value": value, "interval": intervals[name]} for name, value in values.items()}


def _group_metrics(
    targets: np.ndarray, probabilities: np.ndarray, groups: np.ndarray, threshold: float
) -> dict[str, Any]:
    """Metrics of groups (patients), where groups hold several bags and have one label each."""
    grouped = by_group(targets, probabilities, groups)
    if grouped.targets is None or len(grouped.names) == len(targets):
        return {}
    found = _with_intervals(grouped.targets, grouped.probabilities, None, threshold)
    return {"groups": {"n_groups": len(grouped.names), "metrics": found}}


def key_instances(estimator: BagEstimator, bags: Bags, weights: np.ndarray) -> dict[str, Any]:
    """Key-instance metrics of the weights, and of the scores of instances where the method has such, apart."""
    found = {"weights": instance_metrics(bags, weights)}
    scores = estimator.score_instances(bags) if hasattr(estimator, "score_instances") else None
    return found if scores is None or scores.ndim > 1 else {**found, "scores": instance_metrics(bags, scores)}
