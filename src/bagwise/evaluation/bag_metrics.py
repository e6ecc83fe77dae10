"""Metrics of bags: accuracy, precision, recall, F-score, AUC, average precision, log loss, Brier, calibration error.

With two classes they speak of the second, the positive one; with more, precision, recall, F-score, AUC and average
precision are the mean over classes. What is not defined (the AUC of bags of one class) is None, never a guess.
"""

import numpy as np

from bagwise.curves import calibration_bins, precision_recall_points
from bagwise.decisions import EVEN, Threshold, decide

SMALLEST_PROBABILITY = np.finfo(np.float64).tiny

Metrics = dict[str, float | None]


def bag_metrics(targets: np.ndarray, probabilities: np.ndarray, threshold: Threshold = EVEN) -> Metrics:
    """All metrics, from class numbers (n_bags,) and probabilities (n_bags, n_classes); decisions by the threshold.

    >>> metrics = bag_metrics(np.array([0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> metrics["accuracy"], metrics["auc"]
    (1.0, 1.0)
    """
    n_classes = probabilities.shape[1]
    predicted = decide(probabilities, threshold)
    speaking = [1] if n_classes == 2 else range(n_classes)
    own = probabilities[np.arange(len(targets)), targets]
    truth = np.eye(n_classes)[targets]
    counts = [_counts(targets == c, predicted == c) for c in speaking]
    return {
        "accuracy": float((predicted == targets).mean()),
        "precision": _mean([_ratio(hits, hits + false_alarms) for hits, false_alarms, _ in counts]),
        "recall": _mean([_ratio(hits, hits + misses) for hits, _, misses in counts]),
        "f_score": _mean([_f_score(*each) for each in counts]),
        "auc": _mean([auc(targets == c, probabilities[:, c]) for c in speaking]),
        "average_precision": _mean([average_precision(targets == c, probabilities[:, c]) for c in speaking]),
        "log_loss": float(-np.log(np.maximum(own, SMALLEST_PROBABILITY)).mean()),
        "brier": float(((probabilities - truth) ** 2).sum(axis=1).mean() / (2 if n_classes == 2 else 1)),
        "calibration_error": calibration_error(targets, probabilities),
    }


def auc(positive: np.ndarray, scores: np.ndarray) -> float | None:
    """Area under the ROC curve: the chance that a positive outranks a negative, ties counting half."""
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return None
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def average_precision(positive: np.ndarray, scores: np.ndarray) -> float | None:
    """Mean of the precision over the positives, at each distinct threshold; without negatives all rank alike."""
    points = None if positive.all() else precision_recall_points(positive, scores)
    return None if points is None else float(-(np.diff(points.recall) * points.precision[:-1]).sum())


def calibration_error(targets: np.ndarray, probabilities: np.ndarray) -> float:
    """Expected calibration error: confidence against accuracy of the predicted class, in ten bins of equal width."""
    bins = calibration_bins(targets, probabilities)
    return float((np.abs(bins.confidence - bins.share_right) * bins.n_bags).sum() / len(targets))


def _counts(positive: np.ndarray, alarm: np.ndarray) -> tuple[int, int, int]:
    return int((positive & alarm).sum()), int((~positive & alarm).sum()), int((positive & ~alarm).sum())


def _f_score(hits: int, false_alarms: int, misses: int) -> float | None:
    """Not defined where recall is not: there was nothing to find."""
    return 2 * hits / (2 * hits + false_alarms + misses) if hits + misses else None


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
