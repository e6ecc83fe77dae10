"""Decisions and metrics of bags, computed from probabilities.

The decision is the most probable class or, with two classes, the second one if its probability exceeds a threshold.
With two classes, precision, recall, F-score, AUC and average precision are those of the second class, the positive one;
with more classes, they are the mean over classes. An undefined metric, such as the AUC of bags of one class, is None.
"""

from typing import NamedTuple

import numpy as np

from bagwise.targets.curves import compute_calibration, compute_precision_recall

DEFAULT_THRESHOLD = 0.5  # threshold at which the more probable of two classes is predicted

# title and meaning of each metric, in the order in which they are shown
METRICS = {
    "auc": ("AUC", "probability that a positive bag is ranked above a negative one"),
    "average_precision": ("Average precision", "area under the precision-recall curve"),
    "accuracy": ("Accuracy", "share of bags that are classified correctly"),
    "precision": ("Precision", "share of the bags predicted positive that are positive"),
    "recall": ("Recall", "share of the positive bags that are predicted positive"),
    "f_score": ("F-score", "harmonic mean of precision and recall"),
    "log_loss": ("Log loss", "mean −log probability of the true class; lower is better"),
    "brier": ("Brier score", "mean squared error of the probabilities; lower is better"),
    "calibration_error": ("Calibration error", "mean gap between confidence and accuracy; lower is better"),
}
KEY_METRICS = {
    "auc": ("AUC", "probability that a key instance is ranked above another instance of its bag"),
    "average_precision": ("Average precision", "of the ranking of instances within a bag"),
    "top_1": ("Top-1", "share of bags whose top-ranked instance is a key instance"),
    "top_k": ("Top-5", "share of key instances among the five top-ranked instances of a bag"),
    "pooled_auc": (
        "Pooled AUC",
        "over the instances of all bags at once; weights of different bags are not comparable",
    ),
    "pooled_average_precision": ("Pooled average precision", "over the instances of all bags at once"),
}

MIN_PROBABILITY = np.finfo(np.float64).tiny

Metrics = dict[str, float | None]
Threshold = float | np.ndarray  # one for all bags, or one per bag


def decide_classes(probabilities: np.ndarray, threshold: Threshold = DEFAULT_THRESHOLD) -> np.ndarray:
    """Predict the class of each bag.

    At the default threshold, the most probable class is predicted, or the first of equally probable classes. At any
    other threshold, the second class is predicted if its probability is greater than the threshold.

    Parameters
    ----------
    probabilities : numpy.ndarray of shape (n_bags, n_classes)
        Predicted probabilities.
    threshold : float or numpy.ndarray of shape (n_bags,), default=0.5
        Threshold for the second of two classes; ignored for more classes.

    Returns
    -------
    numpy.ndarray of int, of shape (n_bags,)
        Predicted class of each bag.

    Examples
    --------
    >>> decide_classes(np.array([[0.7, 0.3], [0.4, 0.6]]), threshold=0.2)
    array([1, 1])
    """
    most_probable = probabilities.argmax(axis=1)
    if probabilities.shape[1] > 2:
        return most_probable
    return np.where(np.equal(threshold, DEFAULT_THRESHOLD), most_probable, probabilities[:, 1] > threshold)


def compute_bag_metrics(
    targets: np.ndarray, probabilities: np.ndarray, threshold: Threshold = DEFAULT_THRESHOLD
) -> Metrics:
    """Compute all metrics of bags.

    Parameters
    ----------
    targets : numpy.ndarray of int, of shape (n_bags,)
        Class of each bag.
    probabilities : numpy.ndarray of shape (n_bags, n_classes)
        Predicted probabilities.
    threshold : float or numpy.ndarray of shape (n_bags,), default=0.5
        Decision threshold; see ``decide_classes``.

    Returns
    -------
    dict of str to float or None
        Value of each metric in ``METRICS``; None if it is undefined.

    Examples
    --------
    >>> metrics = compute_bag_metrics(np.array([0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> metrics["accuracy"], metrics["auc"]
    (1.0, 1.0)
    """
    n_classes = probabilities.shape[1]
    predicted = decide_classes(probabilities, threshold)
    scored_classes = [1] if n_classes == 2 else range(n_classes)
    of_true_class = probabilities[np.arange(len(targets)), targets]
    one_hot = np.eye(n_classes)[targets]
    counts = [_count_decisions(targets == c, predicted == c) for c in scored_classes]
    aucs = [compute_auc(targets == c, probabilities[:, c]) for c in scored_classes]
    average_precisions = [compute_average_precision(targets == c, probabilities[:, c]) for c in scored_classes]
    return {
        "accuracy": float((predicted == targets).mean()),
        "precision": _average([_compute_precision(count) for count in counts]),
        "recall": _average([_compute_recall(count) for count in counts]),
        "f_score": _average([_compute_f_score(count) for count in counts]),
        "auc": _average(aucs),
        "average_precision": _average(average_precisions),
        "log_loss": float(-np.log(np.maximum(of_true_class, MIN_PROBABILITY)).mean()),
        "brier": float(((probabilities - one_hot) ** 2).sum(axis=1).mean() / (2 if n_classes == 2 else 1)),
        "calibration_error": compute_calibration_error(targets, probabilities),
    }


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


class _DecisionCounts(NamedTuple):
    true_positives: int
    false_positives: int
    false_negatives: int


def _count_decisions(positive: np.ndarray, predicted: np.ndarray) -> _DecisionCounts:
    return _DecisionCounts(
        true_positives=int((positive & predicted).sum()),
        false_positives=int((~positive & predicted).sum()),
        false_negatives=int((positive & ~predicted).sum()),
    )


def _compute_precision(count: _DecisionCounts) -> float | None:
    return _divide(count.true_positives, count.true_positives + count.false_positives)


def _compute_recall(count: _DecisionCounts) -> float | None:
    return _divide(count.true_positives, count.true_positives + count.false_negatives)


def _compute_f_score(count: _DecisionCounts) -> float | None:
    """Compute the F-score; like recall, it is undefined without positives."""
    total = 2 * count.true_positives + count.false_positives + count.false_negatives
    return 2 * count.true_positives / total if count.true_positives + count.false_negatives else None


def _divide(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _average(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
