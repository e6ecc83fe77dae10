"""Confidence intervals by the bootstrap: test bags are drawn again with replacement, whole groups at a time."""

from collections.abc import Iterator

import numpy as np

from bagwise import randomness
from bagwise.decisions import EVEN
from bagwise.evaluation.bag_metrics import bag_metrics
from bagwise.randomness import Purpose

DRAWS = 1000
LEVEL = 0.95


def bootstrap(
    targets: np.ndarray,
    probabilities: np.ndarray,
    groups: np.ndarray | None = None,
    threshold: float = EVEN,
    seed: int = 0,
) -> dict[str, tuple[float, float] | None]:
    """The 95 % percentile interval of every metric over the test bags (the model stays the same).

    A draw in which a metric is not defined is left out of that metric; None where most draws do not define it, as with
    one group of a class.
    """
    drawn: dict[str, list[float | None]] = {}
    for rows in draws(len(targets), groups, seed):
        for name, value in bag_metrics(targets[rows], probabilities[rows], threshold).items():
            drawn.setdefault(name, []).append(value)
    return {name: percentiles(np.array(values, dtype=float)) for name, values in drawn.items()}


def draws(n_bags: int, groups: np.ndarray | None = None, seed: int = 0) -> Iterator[np.ndarray]:
    """Rows drawn again with replacement, whole groups at a time; the same whenever seed, bags and groups are."""
    owners = np.arange(n_bags) if groups is None else np.unique(groups, return_inverse=True)[1]
    sizes, members = np.bincount(owners), np.argsort(owners, kind="stable")  # bags, group after group
    starts = np.cumsum(sizes) - sizes
    generator = randomness.generator(seed, Purpose.BOOTSTRAP)
    for _ in range(DRAWS):
        chosen = generator.integers(len(sizes), size=len(sizes))
        yield members[_spans(starts[chosen], sizes[chosen])]


def percentiles(values: np.ndarray) -> tuple[float, float] | None:
    """Both ends of the interval of drawn values; what is NaN was not defined, and most must be."""
    known, tail = values[~np.isnan(values)], (1 - LEVEL) / 2
    if 2 * len(known) < len(values) or not len(known):
        return None
    return float(np.quantile(known, tail)), float(np.quantile(known, 1 - tail))


def _spans(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The numbers start … start + size − 1 of each span, one span after the other.

    >>> _spans(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(sizes)
    return np.arange(ends[-1]) + np.repeat(starts - (ends - sizes), sizes)
