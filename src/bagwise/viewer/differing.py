"""The features by which an instance differs most from the others.

dⱼ = (xⱼ − mean of feature j)/(its standard deviation)        over instances of all test bags
"""

from typing import NamedTuple

import numpy as np

from bagwise.summary import Plain

MOST_ROWS = 10_000  # of more instances evenly spaced ones stand for all
SHOWN = 12
NEGLIGIBLE = 1e-9  # a deviation below this share of the mean is a rounding error


class Usual(NamedTuple):
    """Mean and standard deviation of every feature, (n_features,)."""

    means: np.ndarray
    deviations: np.ndarray


def usual(instances: np.ndarray) -> Usual:
    """What is usual among instances."""
    rows = instances
    if len(instances) > MOST_ROWS:
        rows = instances[np.linspace(0, len(instances) - 1, MOST_ROWS).astype(int)]
    values = np.asarray(rows, dtype=np.float64).reshape(len(rows), -1)
    return Usual(values.mean(axis=0), values.std(axis=0))


def differing_features(instance: np.ndarray, usual: Usual) -> list[Plain]:
    """The features furthest from their means, the furthest first; features that never vary say nothing.

    >>> found = differing_features(np.array([1.0, 9.0, 4.0]), Usual(np.zeros(3), np.array([1.0, 3.0, 0.0])))
    >>> [(each["feature"], each["deviations"]) for each in found]
    [(1, 3.0), (0, 1.0)]
    """
    values = np.asarray(instance, dtype=np.float64).ravel()
    varying = np.flatnonzero(usual.deviations > NEGLIGIBLE * np.abs(usual.means))
    away = (values[varying] - usual.means[varying]) / usual.deviations[varying]
    order = np.argsort(-np.abs(away), kind="stable")[:SHOWN]
    return [
        {
            "feature": int(feature),
            "value": float(values[feature]),
            "mean": float(usual.means[feature]),
            "deviations": float(distance),
        }
        for feature, distance in zip(varying[order], away[order], strict=True)
    ]
