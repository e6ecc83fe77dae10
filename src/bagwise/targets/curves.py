"""Curves and counts: ROC, precision and recall, calibration bins, and confusion matrix."""

from typing import NamedTuple

import numpy as np


class RocPoints(NamedTuple):
    """Corners of a ROC curve, from (0, 0) to (1, 1).

    Attributes
    ----------
    false_positive_rate : numpy.ndarray of shape (n_points,)
        False positive rate at each point, in ascending order.
    true_positive_rate : numpy.ndarray of shape (n_points,)
        True positive rate at each point, in ascending order.
    """

    false_positive_rate: np.ndarray
    true_positive_rate: np.ndarray


class PrecisionRecallPoints(NamedTuple):
    """Points of a precision-recall curve.

    The points are in the order of ascending thresholds. At the first point, all samples are predicted positive; the
    last point has precision 1 and recall 0.

    Attributes
    ----------
    recall : numpy.ndarray of shape (n_points,)
        Recall at each point, in descending order.
    precision : numpy.ndarray of shape (n_points,)
        Precision at each point.
    """

    recall: np.ndarray
    precision: np.ndarray


class CalibrationBins(NamedTuple):
    """Bins of confidence that are not empty, in ascending order.

    Attributes
    ----------
    confidence : numpy.ndarray of shape (n_bins,)
        Mean probability of the predicted class in each bin.
    accuracy : numpy.ndarray of shape (n_bins,)
        Share of the bags in each bin whose predicted class is correct.
    n_bags : numpy.ndarray of shape (n_bins,)
        Number of bags in each bin.
    """

    confidence: np.ndarray
    accuracy: np.ndarray
    n_bags: np.ndarray


def compute_roc(positive: np.ndarray, scores: np.ndarray) -> RocPoints | None:
    """Compute the corners of the ROC curve; equal scores share a threshold.

    Parameters
    ----------
    positive : numpy.ndarray of bool, of shape (n_samples,)
        Whether each sample is positive.
    scores : numpy.ndarray of shape (n_samples,)
        Score of each sample.

    Returns
    -------
    RocPoints or None
        Points of the curve; None if there are no positives or no negatives.

    Examples
    --------
    >>> compute_roc(np.array([True, False]), np.array([0.9, 0.1])).true_positive_rate
    array([0., 1., 1.])
    """
    if positive.all() or not positive.any():
        return None
    thresholds, inverse = np.unique(-scores, return_inverse=True)
    true_positives = _count_cumulatively(inverse, positive, len(thresholds))
    false_positives = _count_cumulatively(inverse, ~positive, len(thresholds))
    bends = np.diff(true_positives, 2).astype(bool) | np.diff(false_positives, 2).astype(bool)
    corners = np.concatenate([[True], bends, [True]])  # points on a straight line are redundant
    corners[1] = True  # but the highest threshold is kept, as in scikit-learn
    return RocPoints(
        false_positive_rate=false_positives[corners] / false_positives[-1],
        true_positive_rate=true_positives[corners] / true_positives[-1],
    )


def _count_cumulatively(inverse: np.ndarray, chosen: np.ndarray, length: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(inverse, weights=chosen, minlength=length))])


def compute_precision_recall(positive: np.ndarray, scores: np.ndarray) -> PrecisionRecallPoints | None:
    """Compute precision and recall at each distinct score.

    Parameters
    ----------
    positive : numpy.ndarray of bool, of shape (n_samples,)
        Whether each sample is positive.
    scores : numpy.ndarray of shape (n_samples,)
        Score of each sample.

    Returns
    -------
    PrecisionRecallPoints or None
        Points of the curve; None if there are no positives.

    Examples
    --------
    >>> compute_precision_recall(np.array([True, False]), np.array([0.9, 0.1])).precision
    array([0.5, 1. , 1. ])
    """
    if not positive.any():
        return None
    thresholds, inverse, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    true_positives = np.cumsum(np.bincount(inverse, weights=positive, minlength=len(thresholds)))
    precision = true_positives / np.cumsum(counts)
    return PrecisionRecallPoints(
        recall=np.append(true_positives[::-1] / true_positives[-1], 0.0), precision=np.append(precision[::-1], 1.0)
    )


def compute_calibration(targets: np.ndarray, probabilities: np.ndarray, n_bins: int = 10) -> CalibrationBins:
    """Compute the calibration of predictions, in bins of equal width of the probability of the predicted class.

    The mean absolute difference between confidence and accuracy, weighted by the number of bags, is the expected
    calibration error.

    Parameters
    ----------
    targets : numpy.ndarray of int, of shape (n_bags,)
        Class of each bag.
    probabilities : numpy.ndarray of shape (n_bags, n_classes)
        Predicted probabilities.
    n_bins : int, default=10
        Number of bins.

    Returns
    -------
    CalibrationBins
        The bins that are not empty.
    """
    confidence = probabilities.max(axis=1)
    is_correct = probabilities.argmax(axis=1) == targets
    bins = assign_bins(confidence, n_bins)
    n_bags = np.bincount(bins, minlength=n_bins)
    filled = n_bags > 0
    confidence, accuracy = (
        np.bincount(bins, weights=values, minlength=n_bins)[filled] / n_bags[filled]
        for values in (confidence, is_correct)
    )
    return CalibrationBins(confidence=confidence, accuracy=accuracy, n_bags=n_bags[filled])


def assign_bins(confidence: np.ndarray, n_bins: int = 10) -> np.ndarray:
    """Return the number of the bin of each probability; the bins of [0, 1] have equal width.

    >>> assign_bins(np.array([0.55, 0.6, 1.0])).tolist()
    [5, 6, 9]
    """
    return np.minimum((confidence * n_bins).astype(int), n_bins - 1)


def count_confusions(targets: np.ndarray, predicted: np.ndarray, n_classes: int) -> np.ndarray:
    """Compute the confusion matrix.

    Parameters
    ----------
    targets : numpy.ndarray of int, of shape (n_bags,)
        Class of each bag.
    predicted : numpy.ndarray of int, of shape (n_bags,)
        Predicted class of each bag.
    n_classes : int
        Number of classes.

    Returns
    -------
    numpy.ndarray of shape (n_classes, n_classes)
        Number of bags, with one row per true class and one column per predicted class.

    Examples
    --------
    >>> count_confusions(np.array([0, 1, 1]), np.array([0, 1, 0]), 2).tolist()
    [[1, 0], [1, 1]]
    """
    return np.bincount(targets * n_classes + predicted, minlength=n_classes**2).reshape(n_classes, n_classes)
