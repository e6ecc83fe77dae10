"""Fits that are all judged by the same test bags: how sure a mean over them is, by drawing the test bags again.

The corrected resampled error is for splits drawn anew; with one test set it would see the seeds of the methods alone,
and call a score of twenty bags certain.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bagwise.evaluation.bag_metrics import bag_metrics
from bagwise.evaluation.errors import Difference
from bagwise.evaluation.intervals import draws, percentiles

Drawn = dict[str, np.ndarray]  # of each metric, its mean over the fits in every draw; NaN where it is not defined


def share_test_bags(units: Sequence[dict[str, Any]]) -> bool:
    """Whether all fits are judged by the same bags."""
    return len({tuple(unit["rows"]) for unit in units}) == 1


def drawn_metrics(units: Sequence[dict[str, Any]], part: str) -> Drawn:
    """Every metric of bags or groups in draws of them; the same draws for every method on the same bags."""
    judged = [
        (np.array(own["targets"]), np.array(own["probabilities"]), unit["threshold"])
        for unit in units
        for own in [unit["predictions"][part]]
    ]
    groups = units[0]["predictions"][part].get("groups")
    found: dict[str, list[float]] = {}
    for rows in draws(len(judged[0][0]), None if groups is None else np.array(groups)):
        values = [bag_metrics(targets[rows], chances[rows], threshold) for targets, chances, threshold in judged]
        for name in values[0]:
            found.setdefault(name, []).append(float(np.mean([_number(each[name]) for each in values])))
    return {name: np.array(each) for name, each in found.items()}


def drawn_difference(first: np.ndarray, second: np.ndarray, mean: float, n_fits: int) -> Difference:
    """Two methods in the same draws: the interval of their difference, and how often its sign turns."""
    gaps = (first - second)[~np.isnan(first - second)]
    if len(gaps) == 0:
        return Difference(mean, None, None, n_fits)
    turned = min(int((gaps <= 0).sum()), int((gaps >= 0).sum()))
    return Difference(mean, percentiles(gaps), min(1.0, 2 * (turned + 1) / (len(gaps) + 1)), n_fits)


def _number(value: float | None) -> float:
    return np.nan if value is None else value
