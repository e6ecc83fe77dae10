"""The target of a bag: what is predicted, and everything that depends on it.

    y  ──encode──▶  targets  ──likelihood──▶  loss
    scores  ──likelihood──▶  outputs  ──decide──▶  predicted values
    (targets, outputs)  ──metrics──▶  numbers

A target is learned from the training labels and stored with the model. No code outside this package depends on the kind
of a target: it asks the target. To add a kind, write one class here and register it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from bagwise.targets.likelihoods import Likelihood

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


class Target(ABC):
    """Abstract base class of targets.

    Attributes
    ----------
    kind : str
        Name of the kind of target, such as "classes".
    outputs : tuple of Output
        The outputs, in the order of their columns.
    likelihood : Likelihood
        Relation between scores, outputs and targets.
    metrics : dict of str to Metric
        The metrics of bags, by name, in the order in which they are computed and written.
    has_threshold : bool
        Whether the decision depends on a threshold that can be learned.
    shown_output : int or None
        Index of the output that short tables show for every bag; None shows the output of the predicted value.
    main_metrics : tuple of str
        Names of the metrics that short tables show.
    sections : tuple of str
        Keys of the sections that a report shows.
    """

    kind: ClassVar[str]
    main_metrics: ClassVar[tuple[str, ...]]
    sections: ClassVar[tuple[str, ...]]

    outputs: tuple[Output, ...]
    likelihood: Likelihood
    metrics: dict[str, Metric]
    has_threshold: bool = False
    shown_output: int | None = None

    @classmethod
    @abstractmethod
    def learn(cls, y: npt.ArrayLike, n_bags: int) -> "Target":
        """Learn the target from the labels of the training bags.

        Parameters
        ----------
        y : array-like
            Labels of the training bags.
        n_bags : int
            Expected number of labels.

        Returns
        -------
        Target

        Raises
        ------
        InputError
            If the labels are not of this kind.
        """

    @abstractmethod
    def encode(self, y: npt.ArrayLike, n_bags: int) -> np.ndarray:
        """Encode labels as numbers.

        Parameters
        ----------
        y : array-like
            Labels.
        n_bags : int
            Expected number of labels.

        Returns
        -------
        ndarray of shape (n_bags, ...)

        Raises
        ------
        InputError
            If a label is unknown to the target, or their number differs from ``n_bags``.
        """

    @abstractmethod
    def encode_names(self, names: Sequence[str]) -> np.ndarray:
        """Encode labels that were written to a csv file.

        Parameters
        ----------
        names : sequence of str
            Labels as text.

        Returns
        -------
        ndarray of shape (n_bags, ...)
        """

    @abstractmethod
    def knows_names(self, names: Sequence[str]) -> bool:
        """Return whether all of these texts are labels of the target, so that ``encode_names`` accepts them."""

    @abstractmethod
    def decode(self, targets: np.ndarray) -> np.ndarray:
        """Return the labels of encoded targets; the inverse of ``encode``.

        Parameters
        ----------
        targets : ndarray of shape (n_bags, ...)
            Encoded targets.

        Returns
        -------
        ndarray of shape (n_bags, ...)
        """

    @abstractmethod
    def decide(self, outputs: np.ndarray, threshold: Threshold) -> np.ndarray:
        """Return the predicted values, encoded like targets.

        Parameters
        ----------
        outputs : ndarray of shape (n_bags, n_outputs)
            Outputs of a model.
        threshold : float or ndarray of shape (n_bags,)
            Decision threshold, for targets that have one.

        Returns
        -------
        ndarray of shape (n_bags, ...)
        """

    @abstractmethod
    def make_strata(self, targets: np.ndarray) -> np.ndarray:
        """Return the stratum of each bag, for splits that keep the distribution of the target.

        Parameters
        ----------
        targets : ndarray of shape (n_bags, ...)
            Encoded targets.

        Returns
        -------
        ndarray of int, of shape (n_bags,)
        """

    @abstractmethod
    def describe(self) -> str:
        """Return what the target is, for messages: "the classes no, yes"."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the content of the target as JSON types, without its kind."""

    @classmethod
    @abstractmethod
    def from_json(cls, content: dict[str, Any]) -> "Target":
        """Restore a target from the content returned by ``to_json``; reject invalid content."""

    def __reduce__(self) -> Any:
        """Pickle the content as JSON types, because the functions of metrics cannot be pickled."""
        return type(self).from_json, (self.to_json(),)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.outputs)

    @property
    def shown_metrics(self) -> list[Metric]:
        """The metrics in the order of tables."""
        return sorted(self.metrics.values(), key=lambda metric: metric.rank)

    def compute_metrics(self, targets: np.ndarray, outputs: np.ndarray, threshold: Threshold) -> Metrics:
        """Compute every metric.

        Parameters
        ----------
        targets : ndarray of shape (n_bags, ...)
            Encoded targets.
        outputs : ndarray of shape (n_bags, n_outputs)
            Outputs of a model.
        threshold : float or ndarray of shape (n_bags,)
            Decision threshold, for targets that have one.

        Returns
        -------
        dict of str to float or None
            Value of each metric; None if it is undefined.
        """
        return {name: metric.compute(targets, outputs, threshold) for name, metric in self.metrics.items()}


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
