"""Predictions of groups (patients) from those of their bags (slides): the mean of the probabilities."""

from typing import NamedTuple

import numpy as np


class Grouped(NamedTuple):
    """One row a group, in the order of ``names``."""

    names: np.ndarray
    n_bags: np.ndarray
    targets: np.ndarray | None  # class numbers; None where those of the bags are not known, or leave them open
    probabilities: np.ndarray


def by_group(targets: np.ndarray | None, probabilities: np.ndarray, groups: np.ndarray) -> Grouped:
    """Judged bags → judged groups.

    Bags of different classes leave the class of their group open, and then no group has a target.

    >>> by_group(np.array([1, 1, 0]), np.array([[0.6, 0.4], [0.3, 0.7], [0.8, 0.2]]), np.array(["a", "a", "b"])).targets
    array([1, 0])
    """
    names, owners, counts = np.unique(groups, return_inverse=True, return_counts=True)
    sums = np.zeros((len(names), probabilities.shape[1]))
    np.add.at(sums, owners, probabilities)
    own = None if targets is None else _targets(targets, owners, len(names))
    return Grouped(names, counts, own, sums / counts[:, None])


def _targets(targets: np.ndarray, owners: np.ndarray, n_groups: int) -> np.ndarray | None:
    own = np.zeros(n_groups, dtype=int)
    own[owners] = targets
    return own if (own[owners] == targets).all() else None
