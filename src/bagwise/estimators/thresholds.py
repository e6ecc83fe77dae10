"""The decision threshold between two classes, learned from held-out bags.

positive if p > t              t maximises recall + specificity
"""

from typing import Any

import numpy as np

from bagwise.arguments import check_real_number
from bagwise.errors import InputError
from bagwise.targets import DEFAULT_THRESHOLD, Target


def learn_threshold(target: Target, outputs: np.ndarray, targets: np.ndarray) -> float:
    """Learn the threshold of the positive class from held-out bags.

    Parameters
    ----------
    target : Target
        A target that ``check_threshold`` accepts.
    outputs : ndarray of shape (n_bags, n_outputs)
        Predicted probabilities of the held-out bags.
    targets : ndarray of int, of shape (n_bags,)
        Their class numbers.

    Returns
    -------
    float
        The midpoint between two probabilities with maximum recall + specificity; of several, the one nearest to one
        half. One half if the bags are all of one class, or have the same probability.
    """
    positive: Any = target.shown_output
    return _find_best_threshold(outputs[:, positive], targets == positive)


def restore_threshold(value: Any) -> float:
    """Return the threshold of a saved model; reject an invalid one."""
    return check_real_number("threshold", value, minimum=0)


def check_threshold(target: Target) -> None:
    """Reject a learned threshold for a target that has none."""
    if not target.has_threshold:
        raise InputError(f"a threshold decides between two classes, but y has {target.describe()}; set threshold=False")


def _find_best_threshold(probabilities: np.ndarray, positive: np.ndarray) -> float:
    values = np.unique(probabilities)
    if positive.all() or not positive.any() or len(values) == 1:
        return DEFAULT_THRESHOLD
    candidates = (values[1:] + values[:-1]) / 2
    recall = np.array([(probabilities[positive] > candidate).mean() for candidate in candidates])
    specificity = np.array([(probabilities[~positive] < candidate).mean() for candidate in candidates])
    best = candidates[np.isclose(recall + specificity, (recall + specificity).max())]
    return float(best[np.abs(best - DEFAULT_THRESHOLD).argmin()])
