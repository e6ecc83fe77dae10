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

    With two classes a group is positive if one of its bags is, as a bag is if one of its instances is; with more, bags
    of different classes leave the class of their group open, and then no group has a target.

    >>> by_group(np.array([0, 1, 0]), np.array([[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]]), np.array(["a", "a", "b"])).targets
    array([1, 0])
    """
    names, owners, counts = np.unique(groups, return_inverse=True, return_counts=True)
    sums = np.zeros((len(names), probabilities.shape[1]))
    np.add.at(sums, owners, probabilities)
    own = None if targets is None else _targets(targets, owners, len(names), probabilities.shape[1])
    return Grouped(names, counts, own, sums / counts[:, None])


def _targets(targets: np.ndarray, owners: np.ndarray, n_groups: int, n_classes: int) -> np.ndarray | None:
    highest = np.full(n_groups, -1)
    np.maximum.at(highest, owners, targets)
    return None if n_classes > 2 and (highest[owners] != targets).any() else highest
