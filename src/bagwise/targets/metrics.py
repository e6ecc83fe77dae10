"""Decisions and metrics of bags, computed from probabilities.

The decision is the most probable class or, with two classes, the positive one if its probability exceeds a threshold.
With two classes, precision, recall, F-score, AUC and average precision are those of the positive class; with more
classes, they are the mean over classes. An undefined metric, such as the AUC of bags of one class, is None.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bagwise.targets.curves import assign_bins, compute_calibration, compute_precision_recall
from bagwise.targets.outputs import Metric, MetricFunction, Threshold

DEFAULT_THRESHOLD = 0.5  # threshold at which the more probable of two classes is predicted

MIN_PROBABILITY = np.finfo(np.float64).tiny


def decide_classes(
    probabilities: np.ndarray, threshold: Threshold = DEFAULT_THRESHOLD, positive: int = 1
) -> np.ndarray:
    """Predict the class of each bag.

    At the default threshold, the most probable class is predicted; of equally probable ones the first, or with two
    classes the one that is not positive. At any other threshold, the positive class is predicted if its probability is
    greater than the threshold.

    Parameters
    ----------
    probabilities : numpy.ndarray of shape (n_bags, n_classes)
        Predicted probabilities.
    threshold : float or numpy.ndarray of shape (n_bags,), default=0.5
        Threshold for the positive one of two classes; ignored for more classes.
    positive : int, default=1
        Index of the positive one of two classes.

    Returns
    -------
    numpy.ndarray of int, of shape (n_bags,)
        Predicted class of each bag.

    Examples
    --------
    >>> decide_classes(np.array([[0.7, 0.3], [0.4, 0.6]]), threshold=0.2)
    array([1, 1])
    """
    if probabilities.shape[1] > 2:
        return probabilities.argmax(axis=1)
    is_likelier = probabilities[:, positive] > probabilities[:, 1 - positive]
    exceeds = probabilities[:, positive] > threshold
    return np.where(np.where(np.equal(threshold, DEFAULT_THRESHOLD), is_likelier, exceeds), positive, 1 - positive)


def compute_auc(positive: np.ndarray, scores: np.ndarray) -> float | None:
    """Compute the area under the ROC curve: the probability that a positive is ranked above a negative.

    A tie counts as one half.

    Parameters
    ----------
    positive : numpy.ndarray of bool, of shape (n_samples,)
        Whether each sample is positive.
    scores : numpy.ndarray of shape (n_samples,)
        Score of each sample.

    Returns
    -------
    float or None
        AUC; None if there are no positives or no negatives.
    """
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return None
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def compute_average_precision(positive: np.ndarray, scores: np.ndarray) -> float | None:
    """Compute the average precision: the mean of the precision at the scores of the positives.

    Parameters
    ----------
    positive : numpy.ndarray of bool, of shape (n_samples,)
        Whether each sample is positive.
    scores : numpy.ndarray of shape (n_samples,)
        Score of each sample.

    Returns
    -------
    float or None
        Average precision; None if there are no positives, or no negatives, because then all rankings are equally good.
    """
    points = None if positive.all() else compute_precision_recall(positive, scores)
    return None if points is None else float(-(np.diff(points.recall) * points.precision[:-1]).sum())


def compute_calibration_error(targets: np.ndarray, probabilities: np.ndarray) -> float:
    """Compute the expected calibration error of the predicted class, in ten bins of equal width."""
    bins = compute_calibration(targets, probabilities)
    return float((np.abs(bins.confidence - bins.accuracy) * bins.n_bags).sum() / len(targets))


def compute_excess_calibration_error(targets: np.ndarray, probabilities: np.ndarray, n_draws: int = 1000) -> float:
    """Compute the calibration error beyond that of a perfectly calibrated model with the same probabilities.

    Few bags per bin give even such a model a calibration error by chance; its mean is subtracted. It is simulated: the
    predicted class is correct with the predicted probability, independently for each bag.

    Parameters
    ----------
    targets : numpy.ndarray of int, of shape (n_bags,)
        Class of each bag.
    probabilities : numpy.ndarray of shape (n_bags, n_classes)
        Predicted probabilities.
    n_draws : int, default=1000
        Number of simulations; their seed is fixed.

    Returns
    -------
    float
        Excess calibration error; negative if the error is smaller than expected by chance.
    """
    confidence = probabilities.max(axis=1)
    order = np.argsort(assign_bins(confidence), kind="stable")
    starts = np.unique(assign_bins(confidence)[order], return_index=True)[1]
    is_correct = np.random.default_rng(0).random((n_draws, len(targets))) < confidence
    gaps = np.add.reduceat((is_correct - confidence)[:, order], starts, axis=1)  # not by BLAS: it rounds by threads
    by_chance = np.abs(gaps).sum(axis=1).mean() / len(targets)
    return compute_calibration_error(targets, probabilities) - float(by_chance)


def make_accuracy(positive: int) -> MetricFunction:
    """Make the share of bags whose predicted class is correct."""

    def compute_accuracy(targets: np.ndarray, probabilities: np.ndarray, threshold: Threshold) -> float:
        return float((decide_classes(probabilities, threshold, positive) == targets).mean())

    return compute_accuracy


def make_balanced_accuracy(positive: int) -> MetricFunction:
    """Make the mean recall of all classes; undefined if a class has no bags."""

    def compute_balanced_accuracy(targets: np.ndarray, probabilities: np.ndarray, threshold: Threshold) -> float | None:
        predicted = decide_classes(probabilities, threshold, positive)
        classes = range(probabilities.shape[1])
        return _average([compute_recall(count_decisions(targets == c, predicted == c)) for c in classes])

    return compute_balanced_accuracy


def compute_log_loss(targets: np.ndarray, probabilities: np.ndarray, threshold: Threshold) -> float:
    """Compute the mean negative log-probability of the true class."""
    of_true_class = probabilities[np.arange(len(targets)), targets]
    return float(-np.log(np.maximum(of_true_class, MIN_PROBABILITY)).mean())


def compute_brier_score(targets: np.ndarray, probabilities: np.ndarray, threshold: Threshold) -> float:
    """Compute the mean squared error of the probabilities; with two classes, of the probability of one of them."""
    n_classes = probabilities.shape[1]
    one_hot = np.eye(n_classes)[targets]
    return float(((probabilities - one_hot) ** 2).sum(axis=1).mean() / (2 if n_classes == 2 else 1))


def average_over_classes(compute: Callable[[np.ndarray, np.ndarray], float | None], positive: int) -> MetricFunction:
    """Make a metric of the positive class or, with more than two classes, of each class against the rest.

    ``compute(is_class, probability)`` is the metric of one class.
    """

    def compute_average(targets: np.ndarray, probabilities: np.ndarray, threshold: Threshold) -> float | None:
        classes = list_scored_classes(probabilities, positive)
        return _average([compute(targets == c, probabilities[:, c]) for c in classes])

    return compute_average


def average_decisions(compute: "Callable[[DecisionCounts], float | None]", positive: int) -> MetricFunction:
    """Make a metric of the decisions for the positive class or, with more than two classes, for each class."""

    def compute_average(targets: np.ndarray, probabilities: np.ndarray, threshold: Threshold) -> float | None:
        predicted = decide_classes(probabilities, threshold, positive)
        classes = list_scored_classes(probabilities, positive)
        return _average([compute(count_decisions(targets == c, predicted == c)) for c in classes])

    return compute_average


def list_scored_classes(probabilities: np.ndarray, positive: int) -> Sequence[int]:
    """List the classes of which metrics are computed: the positive one of two, or all of more."""
    return [positive] if probabilities.shape[1] == 2 else range(probabilities.shape[1])


class DecisionCounts(NamedTuple):
    """Decisions for and against one class, compared with the truth."""

    true_positives: int
    false_positives: int
    false_negatives: int


def count_decisions(positive: np.ndarray, predicted: np.ndarray) -> DecisionCounts:
    """Count the decisions for one class."""
    return DecisionCounts(
        true_positives=int((positive & predicted).sum()),
        false_positives=int((~positive & predicted).sum()),
        false_negatives=int((positive & ~predicted).sum()),
    )


def compute_precision(count: DecisionCounts) -> float | None:
    """Compute the share of the predicted positives that are positive."""
    return _divide(count.true_positives, count.true_positives + count.false_positives)


def compute_recall(count: DecisionCounts) -> float | None:
    """Compute the share of the positives that are predicted positive."""
    return _divide(count.true_positives, count.true_positives + count.false_negatives)


def compute_f_score(count: DecisionCounts) -> float | None:
    """Compute the F-score; like recall, it is undefined without positives."""
    total = 2 * count.true_positives + count.false_positives + count.false_negatives
    return 2 * count.true_positives / total if count.true_positives + count.false_negatives else None


def _divide(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _average(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def make_class_metrics(positive: int = 1) -> dict[str, Metric]:
    """Make the metrics of classes, in the order in which they are computed and written.

    Parameters
    ----------
    positive : int, default=1
        Index of the positive one of two classes; ignored for more classes.

    Returns
    -------
    dict of str to Metric
    """
    metrics = (
        _make_share("accuracy", "Accuracy", "share of bags that are classified correctly", make_accuracy(positive), 2),
        _make_share(
            "precision",
            "Precision",
            "share of the bags predicted positive that are positive",
            average_decisions(compute_precision, positive),
            4,
        ),
        _make_share(
            "recall",
            "Recall",
            "share of the positive bags that are predicted positive",
            average_decisions(compute_recall, positive),
            5,
        ),
        _make_share(
            "f_score",
            "F-score",
            "harmonic mean of precision and recall",
            average_decisions(compute_f_score, positive),
            6,
        ),
        _make_share(
            "auc",
            "AUC",
            "probability that a positive bag is ranked above a negative one",
            average_over_classes(compute_auc, positive),
            0,
        ),
        _make_share(
            "average_precision",
            "Average precision",
            "area under the precision-recall curve",
            average_over_classes(compute_average_precision, positive),
            1,
        ),
        _make_loss("log_loss", "Log loss", "mean −log probability of the true class", math.inf, compute_log_loss, 7),
        _make_loss("brier", "Brier score", "mean squared error of the probabilities", math.inf, compute_brier_score, 8),
        _make_loss(
            "calibration_error",
            "Calibration error",
            "mean gap between confidence and accuracy",
            1.0,
            lambda targets, probabilities, threshold: compute_calibration_error(targets, probabilities),
            9,
        ),
        _make_share(
            "balanced_accuracy",
            "Balanced accuracy",
            "mean recall of the classes",
            make_balanced_accuracy(positive),
            3,
        ),
    )
    return {metric.name: metric for metric in metrics}


def _make_share(name: str, title: str, meaning: str, compute: MetricFunction, rank: int) -> Metric:
    """Make a metric between 0 and 1 of which greater values are better."""
    return Metric(
        name=name, title=title, meaning=meaning, low=0.0, high=1.0, greater_is_better=True, compute=compute, rank=rank
    )


def _make_loss(name: str, title: str, meaning: str, high: float, compute: MetricFunction, rank: int) -> Metric:
    """Make a metric of at least 0 of which smaller values are better."""
    return Metric(
        name=name,
        title=title,
        meaning=f"{meaning}; lower is better",
        low=0.0,
        high=high,
        greater_is_better=False,
        compute=compute,
        rank=rank,
    )


CLASS_METRICS = make_class_metrics()
