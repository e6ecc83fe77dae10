"""The outputs of a target, and the metrics that compare them with its true values."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

Threshold = float | np.ndarray  # one for all bags, or one per bag
Metrics = dict[str, float | None]
MetricFunction = Callable[[np.ndarray, np.ndarray, Threshold], float | None]


class Output(NamedTuple):
    """One number that a model predicts for a bag.

    Attributes
    ----------
    name : str
        Name of its column in csv files, such as "probability tumour".
    title : str
        Short title in figures and the viewer, such as "tumour".
    kind : str
        What the number is: "probability", "value", "count" ….
    low, high : float
        Range of the number; may be infinite.
    """

    name: str
    title: str
    kind: str
    low: float
    high: float


class Metric(NamedTuple):
    """A number that compares outputs with targets.

    Attributes
    ----------
    name : str
        Name in files.
    title : str
        Title in tables and figures.
    meaning : str
        One phrase that explains it.
    low, high : float
        Range; may be infinite.
    greater_is_better : bool
        Whether greater values are better.
    compute : callable
        ``compute(targets, outputs, threshold)`` returns a float, or None where the metric is undefined.
    rank : int
        Position in tables, from 0.
    """

    name: str
    title: str
    meaning: str
    low: float
    high: float
    greater_is_better: bool
    compute: MetricFunction
    rank: int


def clip_to_range(metric: Metric, low: float, high: float) -> tuple[float, float]:
    """Clip an interval to the range of a metric.

    Parameters
    ----------
    metric : Metric
        The metric.
    low, high : float
        Bounds of the interval.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> from bagwise.targets import CLASS_METRICS
    >>> clip_to_range(CLASS_METRICS["auc"], 0.9, 1.1)
    (0.9, 1.0)
    """
    return max(low, metric.low), min(high, metric.high)


def find_best(metric: Metric, values: Iterable[float | None]) -> float | None:
    """Return the best of several values of a metric, or None if all are undefined.

    Parameters
    ----------
    metric : Metric
        The metric.
    values : iterable of float or None
        Values; None if undefined.

    Returns
    -------
    float or None
    """
    known = [value for value in values if value is not None and not math.isnan(value)]
    choose: Callable[[Sequence[float]], float] = max if metric.greater_is_better else min
    return choose(known) if known else None


def find_failures(outputs: Sequence[Output], values: np.ndarray) -> dict[int, str]:
    """Find the bags with an output that is not finite.

    Parameters
    ----------
    outputs : sequence of Output
        The outputs of the target.
    values : ndarray of shape (n_bags, n_outputs)
        Their values.

    Returns
    -------
    dict of int to str
        The reason for each such bag, such as "probability yes is nan".

    Examples
    --------
    >>> count = Output(name="count", title="count", kind="count", low=0.0, high=math.inf)
    >>> find_failures([count], np.array([[1.0], [np.inf]]))
    {1: 'count is inf'}
    """
    return {
        int(row): "; ".join(
            f"{output.name} is {value}"
            for output, value in zip(outputs, values[row], strict=True)
            if not np.isfinite(value)
        )
        for row in np.flatnonzero(~np.isfinite(values).all(axis=1))
    }
