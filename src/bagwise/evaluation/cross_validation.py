"""One method over a protocol: fitted on the training bags of each split, and on nothing else; judged on its test bags.

The estimator never sees the test bags before it is judged (unless it is to be shown what that does), so scaling,
augmentation, calibration and the selection of parameters can only be learned from training bags. A unit, one method on
one split, is plain JSON: it can be written, resumed and pooled, and it is the same on any number of workers.
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.estimators import BagEstimator
from bagwise.estimators.taking import class_numbers
from bagwise.evaluation.bag_metrics import bag_metrics
from bagwise.evaluation.errors import Errors, errors
from bagwise.evaluation.grouping import by_group
from bagwise.evaluation.instance_metrics import sharing
from bagwise.evaluation.intervals import percentiles
from bagwise.evaluation.judging import key_instances
from bagwise.evaluation.one_test_set import drawn_metrics, share_test_bags
from bagwise.evaluation.protocol import Split, check_classes
from bagwise.randomness import Purpose
from bagwise.training.threads import one_thread

UNBOUNDED = ("log_loss", "brier")  # above one

Unit = dict[str, Any]


def judge_split(estimator: BagEstimator, bags: Bags, y: Any, split: Split, seed: int, *, peeking: bool = False) -> Unit:
    """Fit a copy of the estimator, seeded by the split's place, and judge the test bags.

    peeking : let a network choose its epoch on the test bags, to show how much too good such numbers are
    """
    classes, targets = class_numbers(y, len(bags))
    check_classes(split, classes[targets])
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=randomness.integer(seed, Purpose.SPLIT, 4 + split.repeat, split.fold))
    test = bags[split.test]
    started = time.perf_counter()
    with one_thread():  # sums of another number of threads differ in their last bits
        peek = {"validation": (test, classes[targets[split.test]])} if peeking else {}
        model.fit(bags[split.training], classes[targets[split.training]], **peek)
        fitted = time.perf_counter()
        probabilities, weights = model.judge(test)
        instances = {} if test.instance_labels is None else key_instances(model, test, weights)
    predictions = _predictions(targets[split.test], probabilities, test.groups)
    return {
        "repeat": split.repeat,
        "fold": split.fold,
        "n_training": len(split.training),
        "rows": split.test.tolist(),
        "threshold": model.decision_threshold,
        "predictions": predictions,
        "metrics": {**_metrics(predictions, model.decision_threshold), **instances, "sharing": sharing(test, weights)},
        "seconds": {"fit": fitted - started, "judge": time.perf_counter() - fitted},
    }


def _predictions(targets: np.ndarray, probabilities: np.ndarray, groups: np.ndarray | None) -> Unit:
    """What was judged, bag by bag, and group by group where there are groups."""
    found: Unit = {"bags": {"targets": targets.tolist(), "probabilities": probabilities.tolist()}}
    if groups is not None:
        found["bags"]["groups"] = [str(group) for group in groups]
    grouped = None if groups is None else by_group(targets, probabilities, groups)
    if grouped is not None and grouped.targets is not None:
        own = {"targets": grouped.targets.tolist(), "probabilities": grouped.probabilities.tolist()}
        found["groups"] = {"names": grouped.names.tolist(), **own}
    return found


class Scores(NamedTuple):
    """A method's metric over a protocol."""

    errors: Errors  # of the mean over folds
    pooled: float | None  # of each repeat's out-of-fold predictions together, mean over the repeats


def summarise_units(units: Sequence[Unit], part: str = "bags") -> dict[str, Scores]:
    """Every metric of a part ("bags", "groups", or key instances by "weights" or "scores") over a method's units."""
    names = [name for name in units[0]["metrics"].get(part, {}) if name != "n_bags"]
    found = {name: errors(metric_values(units, name, part), test_share(units)) for name in names}
    if share_test_bags(units):
        drawn = drawn_metrics(units, part) if part in units[0]["predictions"] else {}
        found = {name: _by_bootstrap(each, drawn.get(name)) for name, each in found.items()}
    return {name: Scores(_within_bounds(name, each), _pooled(units, name, part)) for name, each in found.items()}


def _by_bootstrap(found: Errors, drawn: np.ndarray | None) -> Errors:
    interval = None if drawn is None else percentiles(drawn)
    return found._replace(
        corrected_error=None, interval=interval, interval_by=None if interval is None else "bootstrap"
    )


def _within_bounds(name: str, found: Errors) -> Errors:
    """No interval reaches beyond what the metric can be."""
    if found.interval is None:
        return found
    low, high = found.interval
    return found._replace(interval=(max(low, 0.0), high if name in UNBOUNDED else min(high, 1.0)))


def metric_values(units: Sequence[Unit], name: str, part: str = "bags") -> np.ndarray:
    """(repeats, folds): the metric of each unit, NaN where it is not defined."""
    repeats, folds = (max(unit[place] for unit in units) + 1 for place in ("repeat", "fold"))
    values = np.full((repeats, folds), np.nan)
    for unit in units:
        value = unit["metrics"].get(part, {}).get(name)
        values[unit["repeat"], unit["fold"]] = np.nan if value is None else value
    return values


def test_share(units: Sequence[Unit]) -> float:
    """Test bags over training bags, mean over the units."""
    return float(np.mean([len(unit["rows"]) / unit["n_training"] for unit in units]))


def _metrics(predictions: Unit, threshold: float) -> Unit:
    return {
        part: bag_metrics(np.array(found["targets"]), np.array(found["probabilities"]), threshold)
        for part, found in predictions.items()
    }


def pooled_values(units: Sequence[Unit], name: str, part: str = "bags") -> np.ndarray:
    """(repeats,): the metric of each repeat's out-of-fold predictions together, NaN where it is not defined.

    It is not for key instances, which are compared within bags, nor for groups that were judged in pieces.
    """
    repeats = sorted({unit["repeat"] for unit in units})
    found = [_together([unit for unit in units if unit["repeat"] == repeat], name, part) for repeat in repeats]
    return np.array([np.nan if value is None else value for value in found])


def _together(units: Sequence[Unit], name: str, part: str) -> float | None:
    judged = [(unit["predictions"][part], unit["threshold"]) for unit in units if part in unit["predictions"]]
    names = [group for own, _ in judged for group in own.get("names", [])]
    if not judged or len(set(names)) < len(names):
        return None
    targets, probabilities = (np.concatenate([own[what] for own, _ in judged]) for what in ("targets", "probabilities"))
    thresholds = np.concatenate([np.full(len(own["targets"]), threshold) for own, threshold in judged])
    return bag_metrics(targets, probabilities, thresholds)[name]


def _pooled(units: Sequence[Unit], name: str, part: str) -> float | None:
    values = pooled_values(units, name, part)
    return None if np.isnan(values).any() else float(values.mean())
