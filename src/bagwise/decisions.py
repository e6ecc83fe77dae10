"""From probabilities to a decision: the likeliest class, or with two classes the second one above a threshold."""

import numpy as np

EVEN = 0.5  # the threshold at which the likelier of two classes wins


Threshold = float | np.ndarray  # one for all bags, or one for each


def decide(probabilities: np.ndarray, threshold: Threshold = EVEN) -> np.ndarray:
    """Class numbers (n_bags,) from probabilities (n_bags, n_classes); more than two classes have no threshold.

    >>> decide(np.array([[0.7, 0.3], [0.4, 0.6]]), threshold=0.2)
    array([1, 1])
    """
    likeliest = probabilities.argmax(axis=1)
    if probabilities.shape[1] > 2:
        return likeliest
    return np.where(np.equal(threshold, EVEN), likeliest, probabilities[:, 1] > threshold)
