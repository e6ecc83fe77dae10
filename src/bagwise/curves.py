"""What the quality of predictions is made of: points of curves, bins of confidence, counts of confusions."""

from typing import NamedTuple

import numpy as np


class RocPoints(NamedTuple):
    """Corners of the curve, from (0, 0) to (1, 1)."""

    false_positive_rate: np.ndarray
    true_positive_rate: np.ndarray


def roc_points(positive: np.ndarray, scores: np.ndarray) -> RocPoints | None:
    """The corners of the curve, equal scores taken together; None where one of the two kinds is missing.

    >>> roc_points(np.array([True, False]), np.array([0.9, 0.1])).true_positive_rate
    array([0., 1., 1.])
    """
    if positive.all() or not positive.any():
        return None
    thresholds, inverse = np.unique(-scores, return_inverse=True)
    hits = _running(inverse, positive, len(thresholds))
    alarms = _running(inverse, ~positive, len(thresholds))
    bends = np.diff(hits, 2).astype(bool) | np.diff(alarms, 2).astype(bool)
    corners = np.concatenate([[True], bends, [True]])  # points within a straight line say nothing
    corners[1] = True  # but the highest threshold is kept, as scikit-learn does
    return RocPoints(alarms[corners] / alarms[-1], hits[corners] / hits[-1])


def _running(inverse: np.ndarray, chosen: np.ndarray, length: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(inverse, weights=chosen, minlength=length))])


class PrecisionRecallPoints(NamedTuple):
    """Points from the lowest threshold (everything an alarm) to the highest, then precision 1 at recall 0."""

    recall: np.ndarray
    precision: np.ndarray


def precision_recall_points(positive: np.ndarray, scores: np.ndarray) -> PrecisionRecallPoints | None:
    """Precision and recall at each distinct score; None without positives.

    >>> precision_recall_points(np.array([True, False]), np.array([0.9, 0.1])).precision
    array([0.5, 1. , 1. ])
    """
    if not positive.any():
        return None
    thresholds, inverse, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    hits = np.cumsum(np.bincount(inverse, weights=positive, minlength=len(thresholds)))
    precision = hits / np.cumsum(counts)
    return PrecisionRecallPoints(np.append(hits[::-1] / hits[-1], 0.0), np.append(precision[::-1], 1.0))


class CalibrationBins(NamedTuple):
    """Bins of confidence that hold bags, in order."""

    confidence: np.ndarray  # mean probability of the predicted class
    share_right: np.ndarray
    n_bags: np.ndarray


def calibration_bins(targets: np.ndarray, probabilities: np.ndarray, n_bins: int = 10) -> CalibrationBins:
    """Bin bags by the probability of the class predicted for them.

    The bins have equal width, and empty ones are left out. The mean gap between confidence and share right, weighted by
    bags, is the expected calibration error.
    """
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == targets
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    n_bags = np.bincount(bins, minlength=n_bins)
    held = n_bags > 0
    means = [np.bincount(bins, weights=values, minlength=n_bins)[held] / n_bags[held] for values in (confidence, right)]
    return CalibrationBins(means[0], means[1], n_bags[held])


def count_confusions(targets: np.ndarray, predicted: np.ndarray, n_classes: int) -> np.ndarray:
    """(n_classes, n_classes) numbers of bags: true class down, predicted class across.

    >>> count_confusions(np.array([0, 1, 1]), np.array([0, 1, 0]), 2).tolist()
    [[1, 0], [1, 1]]
    """
    return np.bincount(targets * n_classes + predicted, minlength=n_classes**2).reshape(n_classes, n_classes)
