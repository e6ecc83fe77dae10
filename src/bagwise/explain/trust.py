"""Reliability of the weights of a bag for identifying its key instances.

    effective number of instances = exp( −Σₖ aₖ log aₖ )        1 if one instance has all the weight,
                                                                K if all K weights are equal

The effective number is the size of a bag with equal weights and the same entropy. A warning describes the weights and
is not an error: mean pooling always weights all instances equally, and max pooling may weight a single instance.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import entr

from bagwise.io import JsonObject
from bagwise.runs import ModelPredictions, Run

COLLAPSED = 0.99  # weight of a single instance
FLAT = 0.95  # effective number, as a share of the instances
UNSTABLE = 0.5  # sum over a bag of the standard deviations of the weights over models
MIN_INSTANCES = 5  # in smaller bags, collapsed or flat weights are not informative


class Trust(NamedTuple):
    """Reliability of the weights of each bag.

    Attributes
    ----------
    effective_number : ndarray of shape (n_bags,)
        Effective number of instances.
    top_weight : ndarray of shape (n_bags,)
        The largest weight.
    warnings : list of list of str
        The warnings of each bag.
    """

    effective_number: np.ndarray
    top_weight: np.ndarray
    warnings: list[list[str]]


def assess_trust(weights: np.ndarray, offsets: np.ndarray, spread: np.ndarray | None = None) -> Trust:
    """Compute the effective number of instances, the largest weight and warnings for each bag.

    Parameters
    ----------
    weights : ndarray of shape (n_instances,)
        Weights that sum to one within each bag.
    offsets : ndarray of shape (n_bags + 1,)
        Start of each bag in ``weights``, and the end.
    spread : ndarray of shape (n_instances,) or None, default=None
        Standard deviation of each weight over several models, for example ``ensemble.spread(bags).weights``; None
        omits the warning about models that disagree.

    Returns
    -------
    Trust
        The assessment of each bag.

    Examples
    --------
    >>> assess_trust(np.array([0.5, 0.5, 1.0]), np.array([0, 2, 3])).top_weight.tolist()
    [0.5, 1.0]
    """
    sizes, effective_number = np.diff(offsets), compute_effective_number(weights, offsets)
    top_weight = np.maximum.reduceat(weights, offsets[:-1])
    deviation = np.zeros(len(sizes)) if spread is None else np.add.reduceat(spread, offsets[:-1])
    warnings = [
        _find_warnings(size=size, effective_number=effective, top_weight=top, deviation=total)
        for size, effective, top, total in zip(
            sizes.tolist(), effective_number.tolist(), top_weight.tolist(), deviation.tolist(), strict=True
        )
    ]
    return Trust(effective_number, top_weight, warnings)


def compute_effective_number(weights: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Compute the effective number of instances of each bag.

    Parameters
    ----------
    weights : ndarray of shape (n_instances,)
        Non-negative weights; they are normalised within each bag.
    offsets : ndarray of shape (n_bags + 1,)
        Start of each bag in ``weights``, and the end.

    Returns
    -------
    ndarray of shape (n_bags,)
        Values from 1 to the number of instances.

    Examples
    --------
    >>> compute_effective_number(np.array([0.5, 0.5, 0.0, 1.0]), np.array([0, 3, 4])).round(12).tolist()
    [2.0, 1.0]
    """
    sizes, starts = np.diff(offsets), offsets[:-1]
    wide = weights.astype(np.float64)
    shares = wide / np.add.reduceat(wide, starts).repeat(sizes)  # float32 weights sum to one only approximately
    return np.exp(np.add.reduceat(entr(shares), starts)).clip(1, sizes)


def make_overview_rows(run: Run | ModelPredictions) -> list[JsonObject]:
    """Return one row per test bag, with its prediction and the reliability of its weights.

    Parameters
    ----------
    run : Run or ModelPredictions
        A finished run; its files are read, and nothing is predicted again.

    Returns
    -------
    list of dict
        The columns of predictions.csv, effective_number, top_weight and warnings.
    """
    trust = assess_trust(run.weights, run.offsets)
    return [
        {
            **row,
            "effective_number": repr(float(trust.effective_number[bag])),
            "top_weight": repr(float(trust.top_weight[bag])),
            "warnings": "; ".join(trust.warnings[bag]),
        }
        for bag, row in enumerate(run.predictions)
    ]


def _find_warnings(size: int, effective_number: float, top_weight: float, deviation: float) -> list[str]:
    found = []
    if size >= MIN_INSTANCES and top_weight >= COLLAPSED:
        found.append(
            f"the weights have collapsed onto one of {size} instances: the prediction depends on this instance alone"
        )
    if size >= MIN_INSTANCES and effective_number >= FLAT * size:
        found.append(
            f"the weights are flat: the effective number of instances is {effective_number:.1f} of {size}, "
            "so the weights do not identify key instances"
        )
    if deviation >= UNSTABLE:
        found.append(
            f"the models disagree about the weights: the standard deviations sum to {deviation:.0%} of the total "
            "weight, so another model may weight other instances"
        )
    return found
