"""Predictions of groups (patients) from those of their bags (slides): the mean of the probabilities."""

from typing import NamedTuple

import numpy as np


class Grouped(NamedTuple):
    """One row a group, in the order of ``names``."""

    names: np.ndarray
    targets: np.ndarray
    probabilities: np.ndarray


def by_group(targets: np.ndarray, probabilities: np.ndarray, groups: np.ndarray) -> Grouped | None:
    """Judged bags → judged groups; None where groups of several classes leave their label open.

    With two classes a group is positive if one of its bags is, as a bag is if one of its instances is.

    >>> by_group(np.array([0, 1, 0]), np.array([[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]]), np.array(["a", "a", "b"])).targets
    array([1, 0])
    """
    names, owners, counts = np.unique(groups, return_inverse=True, return_counts=True)
    highest = np.full(len(names), -1)
    np.maximum.at(highest, owners, targets)
    if probabilities.shape[1] > 2 and (highest[owners] != targets).any():
        return None
    sums = np.zeros((len(names), probabilities.shape[1]))
    np.add.at(sums, owners, probabilities)
    return Grouped(names, highest, sums / counts[:, None])
