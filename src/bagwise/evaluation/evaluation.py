"""Evaluation of a fitted estimator on bags it has not seen: predictions, weights, and metrics with intervals.

Groups (e.g. the patients that slides belong to) are predicted from their bags: a group's outputs are the mean of the
outputs of its bags.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bagwise.bags import Bags, name_bag
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator, BagsLike, as_bags
from bagwise.evaluation.instance_metrics import compute_instance_metrics
from bagwise.evaluation.intervals import bootstrap_intervals
from bagwise.targets import Target, find_failures


class Evaluation(NamedTuple):
    """Predictions for a set of bags, and their metrics.

    Attributes
    ----------
    outputs : ndarray of shape (n_bags, n_outputs)
        Outputs of the target for each bag, such as class probabilities.
    weights : ndarray of shape (n_instances,)
        Weight of each instance; the weights sum to one within each bag.
    metrics : dict
        Metrics of bags, groups and key instances; JSON-serialisable.
    """

    outputs: np.ndarray
    weights: np.ndarray
    metrics: dict[str, Any]


def evaluate(estimator: BagEstimator, bags: BagsLike, y: npt.ArrayLike) -> Evaluation:
    """Evaluate a fitted estimator on bags with known labels.

    Parameters
    ----------
    estimator : BagEstimator
        Fitted on other bags.
    bags : Bags, list of arrays, or array
        Bags in any form that estimators accept. Metrics of groups are included if the bags have groups, and
        key-instance metrics if they have instance labels.
    y : array-like of shape (n_bags,)
        Labels; for classes, all of them must be classes that the estimator was trained on.

    Returns
    -------
    Evaluation
        Outputs, weights and metrics with bootstrap intervals. If the estimator was fitted on some of the bags, their
        number is the metric "seen_bags", and there is a warning.

    Raises
    ------
    InputError
        If a label is unknown to the estimator, or an output is not finite.
    """
    bags = as_bags(bags)
    target, threshold = estimator.target_, estimator.decision_threshold
    targets = target.encode(y, len(bags))
    outputs, weights = estimator.predict_with_weights(bags)
    check_outputs(target, outputs, bags)
    metrics: dict[str, Any] = {
        "n_bags": bags.n_bags,
        "n_instances": bags.n_instances,
        "bags": _compute_metrics_with_intervals(target, targets, outputs, bags.groups, threshold),
        "decision_threshold": threshold,
    }
    if n_seen := estimator.count_seen(bags):
        metrics["seen_bags"] = n_seen
        warnings.warn(describe_seen_bags(n_seen, len(bags)), stacklevel=2)
    if bags.groups is not None:
        metrics |= _compute_group_metrics(target, targets, outputs, bags.groups, threshold)
    if bags.view("instance_labels") is not None:
        metrics["instances"] = evaluate_key_instances(estimator, bags, weights)
    return Evaluation(outputs, weights, metrics)


def describe_seen_bags(n_seen: int, n_bags: int) -> str:
    """Return the warning about test bags that the model was fitted on.

    Parameters
    ----------
    n_seen : int
        Number of these bags.
    n_bags : int
        Number of test bags.

    Returns
    -------
    str
    """
    return (
        f"the model was fitted on {n_seen} of these {n_bags} bags, or on bags with the same instances, or used them "
        "for validation, so the metrics are too optimistic; evaluate it on other bags, and remove duplicates or give "
        "them one group"
    )


def check_outputs(target: Target, outputs: np.ndarray, bags: Bags) -> None:
    """Reject outputs that are not finite, of which no metric can be computed; the message names the bags."""
    failures = find_failures(target.outputs, outputs)
    if failures:
        bag, reason = next(iter(failures.items()))
        more = f" (and {len(failures) - 1} more bags)" if len(failures) > 1 else ""
        raise InputError(
            f"the model has no finite prediction for {name_bag(bags.names, bag)}{more}: {reason}; look for extreme "
            "values in its instances, standardise the features, or train with a smaller learning rate"
        )


def _compute_metrics_with_intervals(
    target: Target, targets: np.ndarray, outputs: np.ndarray, groups: np.ndarray | None, threshold: float
) -> dict[str, Any]:
    intervals = bootstrap_intervals(target, targets, outputs, groups, threshold)
    values = target.compute_metrics(targets, outputs, threshold)
    return {name: {"value": value, "interval": intervals[name]} for name, value in values.items()}


def _compute_group_metrics(
    target: Target, targets: np.ndarray, outputs: np.ndarray, groups: np.ndarray, threshold: float
) -> dict[str, Any]:
    """Metrics of groups, if some group has several bags and every group has a single label."""
    grouped = group_predictions(targets, outputs, groups)
    if grouped.targets is None or len(grouped.names) == len(targets):
        return {}
    metrics = _compute_metrics_with_intervals(target, grouped.targets, grouped.outputs, None, threshold)
    return {"groups": {"n_groups": len(grouped.names), "metrics": metrics}}


def evaluate_key_instances(estimator: BagEstimator, bags: Bags, weights: np.ndarray) -> dict[str, Any]:
    """Compute key-instance metrics of the weights and, if the estimator scores single instances, of their scores."""
    metrics = {"weights": compute_instance_metrics(bags, weights)}
    if not hasattr(estimator, "score_instances"):
        return metrics
    scores = estimator.target_.get_key_scores(estimator.score_instances(bags))
    if scores is None:
        return metrics
    return {**metrics, "scores": compute_instance_metrics(bags, scores)}


class GroupPredictions(NamedTuple):
    """Predictions for groups, one row per group.

    Attributes
    ----------
    names : ndarray of shape (n_groups,)
        Names of the groups, sorted.
    n_bags : ndarray of shape (n_groups,)
        Number of bags of each group.
    targets : ndarray of shape (n_groups, ...) or None
        Encoded targets; None if those of the bags are unknown, or if bags of a group have different ones.
    outputs : ndarray of shape (n_groups, n_outputs)
        Mean of the outputs of each group's bags.
    """

    names: np.ndarray
    n_bags: np.ndarray
    targets: np.ndarray | None
    outputs: np.ndarray


def group_predictions(targets: np.ndarray | None, outputs: np.ndarray, groups: np.ndarray) -> GroupPredictions:
    """Average the predictions of bags over the groups the bags belong to.

    Parameters
    ----------
    targets : ndarray of shape (n_bags, ...) or None
        Encoded targets of the bags. If the bags of any group have different targets, no group gets one.
    outputs : ndarray of shape (n_bags, n_outputs)
        Outputs of the bags, such as class probabilities.
    groups : ndarray of shape (n_bags,)
        Group of each bag.

    Returns
    -------
    GroupPredictions
        One row per group.

    Examples
    --------
    >>> outputs = np.array([[0.6, 0.4], [0.3, 0.7], [0.8, 0.2]])
    >>> group_predictions(np.array([1, 1, 0]), outputs, np.array(["a", "a", "b"])).targets
    array([1, 0])
    """
    names, owners, counts = np.unique(groups, return_inverse=True, return_counts=True)
    sums = np.zeros((len(names), outputs.shape[1]))
    np.add.at(sums, owners, outputs)
    return GroupPredictions(
        names=names,
        n_bags=counts,
        targets=None if targets is None else _find_group_targets(targets, owners, len(names)),
        outputs=sums / counts[:, None],
    )


def _find_group_targets(targets: np.ndarray, owners: np.ndarray, n_groups: int) -> np.ndarray | None:
    group_targets = np.zeros((n_groups, *targets.shape[1:]), dtype=targets.dtype)
    group_targets[owners] = targets
    has_nan = targets.dtype.kind == "f"  # an unknown one of several labels
    return group_targets if np.array_equal(group_targets[owners], targets, equal_nan=has_nan) else None
