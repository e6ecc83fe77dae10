"""One method over a protocol: fitted on the training bags of each split, and on nothing else; judged on its test bags.

The estimator never sees the test bags before it is judged, so scaling, augmentation, calibration and the selection of
parameters can only be learned from training bags. A unit, one method on one split, is plain JSON: it can be written,
resumed and pooled, and it is the same on any number of workers.
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
from bagwise.evaluation.judging import key_instances
from bagwise.evaluation.protocol import Split
from bagwise.randomness import Purpose
from bagwise.training.threads import one_thread

Unit = dict[str, Any]


def judge_split(estimator: BagEstimator, bags: Bags, y: Any, split: Split, seed: int) -> Unit:
    """Fit a copy of the estimator, seeded by the split's place, and judge the test bags."""
    classes, targets = class_numbers(y, len(bags))
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=randomness.integer(seed, Purpose.SPLIT, 4 + split.repeat, split.fold))
    test = bags[split.test]
    started = time.perf_counter()
    with one_thread():  # sums of another number of threads differ in their last bits
        model.fit(bags[split.training], classes[targets[split.training]])
        fitted = time.perf_counter()
        probabilities, weights = model.judge(test)
        instances = {} if test.instance_labels is None else key_instances(model, test, weights)
    return {
        "repeat": split.repeat,
        "fold": split.fold,
        "n_training": len(split.training),
        "rows": split.test.tolist(),
        "targets": targets[split.test].tolist(),
        "probabilities": probabilities.tolist(),
        "metrics": bag_metrics(targets[split.test], probabilities),
        "instances": instances,
        "groups": _group_metrics(targets[split.test], probabilities, test.groups),
        "seconds": {"fit": fitted - started, "judge": time.perf_counter() - fitted},
    }


def _group_metrics(targets: np.ndarray, probabilities: np.ndarray, groups: np.ndarray | None) -> Unit | None:
    grouped = None if groups is None else by_group(targets, probabilities, groups)
    return None if grouped is None else bag_metrics(grouped.targets, grouped.probabilities)


class Scores(NamedTuple):
    """A method's metric over a protocol."""

    errors: Errors  # of the mean over folds
    pooled: float | None  # of each repeat's out-of-fold predictions together, mean over the repeats


def summarise_units(units: Sequence[Unit]) -> dict[str, Scores]:
    """Every metric over the units of one method."""
    return {
        name: Scores(errors(metric_values(units, name), test_share(units)), _pooled(units, name))
        for name in _names(units)
    }


def metric_values(units: Sequence[Unit], name: str) -> np.ndarray:
    """(repeats, folds): the metric of each unit, NaN where it is not defined."""
    repeats, folds = (max(unit[place] for unit in units) + 1 for place in ("repeat", "fold"))
    values = np.full((repeats, folds), np.nan)
    for unit in units:
        value = unit["metrics"][name]
        values[unit["repeat"], unit["fold"]] = np.nan if value is None else value
    return values


def test_share(units: Sequence[Unit]) -> float:
    """Test bags over training bags, mean over the units."""
    return float(np.mean([len(unit["rows"]) / unit["n_training"] for unit in units]))


def _names(units: Sequence[Unit]) -> list[str]:
    return list(units[0]["metrics"])


def _pooled(units: Sequence[Unit], name: str) -> float | None:
    values = []
    for repeat in sorted({unit["repeat"] for unit in units}):
        own = [unit for unit in units if unit["repeat"] == repeat]
        targets = np.concatenate([unit["targets"] for unit in own])
        values.append(bag_metrics(targets, np.concatenate([unit["probabilities"] for unit in own]))[name])
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
