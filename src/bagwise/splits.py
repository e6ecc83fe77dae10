"""Holding bags out: stratified by class, and never a group on both sides."""

import math
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedShuffleSplit

from bagwise.errors import InputError
from bagwise.quantities import real_number

FOLDS = 10  # at most, unless a share below a tenth asks for more: many folds of few groups are uneven in class


def hold_out(targets: np.ndarray, groups: np.ndarray | None, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to keep and rows to hold out, both in rising order.

    >>> kept, held = hold_out(np.array([0, 0, 0, 0, 1, 1, 1, 1]), None, 0.25, seed=1)
    >>> len(kept), len(held)
    (6, 2)
    """
    share = real_number("the share to hold out", share)
    if not 0 < share < 1:
        raise InputError(f"the share to hold out is {share}; it must lie between 0 and 1")
    seed %= 1 << 32
    kept, held = _by_class(targets, share, seed) if groups is None else _by_group(targets, groups, share, seed)
    return np.sort(kept), np.sort(held)


def _by_class(targets: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    classes, counts = np.unique(targets, return_counts=True)
    if counts.min() < 2:
        raise _too_rare(classes[counts.argmin()])
    n_held = math.ceil(share * len(targets))
    if not len(classes) <= n_held <= len(targets) - len(classes):
        raise InputError(
            f"{share:g} of {len(targets)} bags are {n_held}: not enough on both sides for one bag of each of the "
            f"{len(classes)} classes; choose another share, or add bags"
        )
    splitter = StratifiedShuffleSplit(n_splits=1, test_size=n_held, random_state=seed)
    return next(splitter.split(targets, targets))


def _by_group(targets: np.ndarray, groups: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Some of as many folds as come closest to the share: whole groups, with classes as even as groups allow."""
    n_groups = len(np.unique(groups))
    if n_groups < 2:
        raise InputError(
            f"all {len(targets)} bags belong to one group, '{groups[0]}', and a group is never split; "
            "give groups that are smaller, or none"
        )
    classes, counts = np.unique(targets, return_counts=True)
    if counts.max() < 2:
        raise _too_rare(classes[0])
    folds, chosen = _folds(share, min(n_groups, int(counts.max())))
    splitter = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class in few groups is refused below, with the fix
        parts = [held for _, held in splitter.split(targets, targets, groups)]
    held, kept = np.concatenate(parts[:chosen]), np.concatenate(parts[chosen:])
    _check_classes(targets, groups, kept)
    return kept, held


def _folds(share: float, most: int) -> tuple[int, int]:
    """(k, m): m of k folds come closest to the share; of equals the fewest folds.

    >>> _folds(0.2, most=100), _folds(0.4, most=100), _folds(0.05, most=100), _folds(0.4, most=2)
    ((5, 1), (5, 2), (20, 1), (2, 1))
    """
    limit = min(most, max(FOLDS, round(1 / min(share, 1 - share))))
    pairs = [(folds, chosen) for folds in range(2, limit + 1) for chosen in range(1, folds)]
    return min(pairs, key=lambda pair: (round(abs(pair[1] / pair[0] - share), 9), pair[0]))


def _too_rare(target: Any) -> InputError:
    return InputError(
        f"class {target} has a single bag, which cannot lie on both sides of a split; add bags of it, or drop it"
    )


def _check_classes(targets: np.ndarray, groups: np.ndarray, kept: np.ndarray) -> None:
    lost = np.setdiff1d(targets, targets[kept])
    if len(lost):
        own = groups[targets == lost[0]]
        raise InputError(
            f"holding out whole groups leaves no bag of class {lost[0]} behind, whose {len(own)} bags lie in "
            f"{len(np.unique(own))} of the groups; add groups with that class, or name the bags to hold out yourself"
        )
