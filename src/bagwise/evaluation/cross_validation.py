"""Cross-validation: a method is fitted on the training bags of each split and evaluated on its test bags.

Scaling, augmentation, calibration and parameter selection use training bags only. The one exception is ``peeking``,
which demonstrates how optimistic the metrics become when the epoch is chosen on the test bags. A unit is the result of
one method on one split, as plain JSON. It does not depend on the number of workers.
"""

import time
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from bagwise.bags import Bags
from bagwise.estimators import BagEstimator, MajorityWarning
from bagwise.evaluation.evaluation import check_outputs, evaluate_key_instances, group_predictions
from bagwise.evaluation.instance_metrics import measure_concentration
from bagwise.evaluation.intervals import (
    StandardErrors,
    compute_errors,
    compute_percentiles,
    list_targets,
    read_targets,
    read_unit_target,
    resample_metrics,
    share_test_bags,
)
from bagwise.evaluation.protocol import Split, check_split_strata
from bagwise.nn import Purpose, random_integer
from bagwise.targets import Metric, Target, clip_to_range, save_target
from bagwise.training import use_one_thread

PREDICTED_PARTS = ("bags", "groups")  # parts of a unit whose metrics compare outputs with targets
Unit = dict[str, Any]  # the result of one fit, as returned by evaluate_split


def evaluate_split(
    estimator: BagEstimator, bags: Bags, y: npt.ArrayLike, split: Split, seed: int, *, peeking: bool = False
) -> Unit:
    """Fit a copy of the estimator on the training bags of a split and evaluate it on the test bags.

    Parameters
    ----------
    estimator : BagEstimator
        Not changed. Its ``random_state``, if it has one, is replaced by a seed derived from the repeat and fold.
    bags : Bags
    y : array-like of shape (n_bags,)
        Labels.
    split : Split
    seed : int
    peeking : bool, default=False
        Let a network choose its epoch on the test bags, to show how optimistic such metrics are.

    Returns
    -------
    Unit
        Predictions, metrics and times of the fit.
    """
    target = estimator.learn_target(y, len(bags))
    targets = target.encode(y, len(bags))
    labels = target.decode(targets)
    check_split_strata(split, target.make_strata(targets))
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=random_integer(seed, Purpose.SPLIT, 4 + split.repeat, split.fold))
    test = bags[split.test]
    started = time.perf_counter()
    with use_one_thread(), warnings.catch_warnings():  # with another number of threads, sums differ in their last bits
        warnings.simplefilter("ignore", MajorityWarning)  # the comparison marks such methods
        validation = {"validation": (test, labels[split.test])} if peeking else {}
        model.fit(bags[split.training], labels[split.training], **validation)
        fitted = time.perf_counter()
        outputs, weights = model.predict_with_weights(test)
        check_outputs(target, outputs, test)
        n_seen = model.count_seen(test)
        instances = {} if test.view("instance_labels") is None else evaluate_key_instances(model, test, weights)
    predictions = _collect_predictions(target, targets[split.test], outputs, test.groups)
    return {
        "repeat": split.repeat,
        "fold": split.fold,
        "n_training": len(split.training),
        "rows": split.test.tolist(),
        "target": save_target(target),
        "threshold": model.decision_threshold,
        "predictions": predictions,
        "metrics": {
            **_compute_metrics(target, predictions, model.decision_threshold),
            **instances,
            "sharing": measure_concentration(test, weights),
        },
        **({"seen_bags": n_seen} if n_seen else {}),
        "seconds": {"fit": fitted - started, "judge": time.perf_counter() - fitted},
    }


def _collect_predictions(target: Target, targets: np.ndarray, outputs: np.ndarray, groups: np.ndarray | None) -> Unit:
    """Targets and outputs of the bags, and of their groups where there are any."""
    predictions: Unit = {"bags": {"targets": list_targets(targets), target.outputs_name: outputs.tolist()}}
    if groups is None:
        return predictions
    predictions["bags"]["groups"] = [str(group) for group in groups]
    grouped = group_predictions(targets, outputs, groups)
    if grouped.targets is not None:
        predictions["groups"] = {
            "names": grouped.names.tolist(),
            "targets": list_targets(grouped.targets),
            target.outputs_name: grouped.outputs.tolist(),
        }
    return predictions


def _compute_metrics(target: Target, predictions: Unit, threshold: float) -> Unit:
    return {
        part: target.compute_metrics(read_targets(found), np.array(found[target.outputs_name]), threshold)
        for part, found in predictions.items()
    }


class Scores(NamedTuple):
    """A metric of one method over all splits of a protocol.

    Attributes
    ----------
    errors : StandardErrors
        Mean over folds and its standard errors.
    pooled : float or None
        Metric of the out-of-fold predictions of a whole repeat, averaged over repeats.
    """

    errors: StandardErrors
    pooled: float | None


def summarise_units(units: Sequence[Unit], part: str = "bags") -> dict[str, Scores]:
    """Summarise every metric of one part over the units of a method.

    Parameters
    ----------
    units : sequence of Unit
    part : {"bags", "groups", "weights", "scores"}, default="bags"
        Metrics of bags, of groups, or of key instances ranked by weights or by scores.

    Returns
    -------
    dict of str to Scores
        By name of the metric; empty if the units have no such part.
    """
    metrics = read_unit_target(units[0]).metrics if part in PREDICTED_PARTS else {}
    stored = units[0]["metrics"].get(part, {})
    names = [name for name in {**stored, **(metrics if stored else {})} if name != "n_bags"]
    errors = {name: compute_errors(get_metric_values(units, name, part), get_test_share(units)) for name in names}
    if share_test_bags(units):
        resampled = resample_metrics(units, part) if part in units[0]["predictions"] else {}
        errors = {name: _use_bootstrap(found, resampled.get(name)) for name, found in errors.items()}
    return {
        name: Scores(_clip_interval(metrics.get(name), found), _average_pooled(units, name, part))
        for name, found in errors.items()
    }


def _use_bootstrap(errors: StandardErrors, resampled: np.ndarray | None) -> StandardErrors:
    interval = None if resampled is None else compute_percentiles(resampled)
    return errors._replace(
        corrected_error=None, interval=interval, interval_by=None if interval is None else "bootstrap"
    )


def _clip_interval(metric: Metric | None, errors: StandardErrors) -> StandardErrors:
    """Clip the interval to the range of a metric of bags, or to that of key-instance metrics, from 0 to 1."""
    if errors.interval is None:
        return errors
    low, high = errors.interval
    clipped = (max(low, 0.0), min(high, 1.0)) if metric is None else clip_to_range(metric, low, high)
    return errors._replace(interval=clipped)


def get_metric_values(units: Sequence[Unit], name: str, part: str = "bags") -> np.ndarray:
    """Collect a metric of every unit of a method.

    Parameters
    ----------
    units : sequence of Unit
        The units of one method.
    name : str
        Name of the metric.
    part : {"bags", "groups", "weights", "scores"}, default="bags"
        Metrics of bags, of groups, or of key instances ranked by weights or by scores.

    Returns
    -------
    ndarray of shape (n_repeats, n_folds)
        NaN where the metric is undefined or the unit is missing.
    """
    return arrange_values(units, [_get_metric(unit, name, part) for unit in units])


def arrange_values(units: Sequence[Unit], values: Sequence[float | None]) -> np.ndarray:
    """Arrange one value per unit by repeat and fold.

    Parameters
    ----------
    units : sequence of Unit
        The units of one method.
    values : sequence of float or None
        Value of each unit; None if it is undefined.

    Returns
    -------
    ndarray of shape (n_repeats, n_folds)
        NaN where the value is undefined or the unit is missing.
    """
    repeats, folds = (max(unit[number] for unit in units) + 1 for number in ("repeat", "fold"))
    arranged = np.full((repeats, folds), np.nan)
    for unit, value in zip(units, values, strict=True):
        arranged[unit["repeat"], unit["fold"]] = np.nan if value is None else value
    return arranged


def _get_metric(unit: Unit, name: str, part: str) -> float | None:
    """Return a stored metric; one that an earlier version did not store is computed from the predictions."""
    stored = unit["metrics"].get(part, {})
    if name in stored or part not in PREDICTED_PARTS or part not in unit["predictions"]:
        return stored.get(name)
    target, found = read_unit_target(unit), unit["predictions"][part]
    outputs = np.array(found[target.outputs_name])
    return target.metrics[name].compute(np.array(found["targets"]), outputs, unit["threshold"])


def get_test_share(units: Sequence[Unit]) -> float:
    """Return the ratio of test bags to training bags, averaged over the units."""
    return float(np.mean([len(unit["rows"]) / unit["n_training"] for unit in units]))


def get_pooled_values(units: Sequence[Unit], name: str, part: str = "bags") -> np.ndarray:
    """Compute a metric of the out-of-fold predictions of each repeat, pooled over its folds.

    Parameters
    ----------
    units : sequence of Unit
        The units of one method.
    name : str
        Name of the metric.
    part : {"bags", "groups"}, default="bags"
        Key instances are compared within bags and cannot be pooled.

    Returns
    -------
    ndarray of shape (n_repeats,)
        NaN where the metric is undefined, or where the bags of a group are in several folds.
    """
    target, pooled = read_unit_target(units[0]), pool_predictions(units, part)
    values = [None if found is None else target.metrics[name].compute(*found) for found in pooled]
    return np.array([np.nan if value is None else value for value in values])


class PooledPredictions(NamedTuple):
    """Targets, outputs and thresholds of the test bags of all folds of a repeat."""

    targets: np.ndarray
    outputs: np.ndarray
    thresholds: np.ndarray


def pool_predictions(units: Sequence[Unit], part: str = "bags") -> list[PooledPredictions | None]:
    """Collect the out-of-fold predictions of each repeat.

    Parameters
    ----------
    units : sequence of Unit
        The units of one method.
    part : {"bags", "groups"}, default="bags"
        Which predictions to collect.

    Returns
    -------
    list of PooledPredictions or None
        One per repeat; None where the bags of a group are in several folds.
    """
    repeats = sorted({unit["repeat"] for unit in units})
    return [_pool_folds([unit for unit in units if unit["repeat"] == repeat], part) for repeat in repeats]


def _pool_folds(units: Sequence[Unit], part: str) -> PooledPredictions | None:
    evaluated = [(unit["predictions"][part], unit["threshold"]) for unit in units if part in unit["predictions"]]
    groups = [group for predictions, _ in evaluated for group in predictions.get("names", [])]
    if not evaluated or len(set(groups)) < len(groups):
        return None
    target = read_unit_target(units[0])
    targets = np.concatenate([read_targets(predictions) for predictions, _ in evaluated])
    outputs = np.concatenate([predictions[target.outputs_name] for predictions, _ in evaluated])
    thresholds = np.concatenate([np.full(len(found["targets"]), threshold) for found, threshold in evaluated])
    return PooledPredictions(targets, outputs, thresholds)


def _average_pooled(units: Sequence[Unit], name: str, part: str) -> float | None:
    values = get_pooled_values(units, name, part)
    return None if np.isnan(values).any() else float(values.mean())
