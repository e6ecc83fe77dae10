"""Holding bags out: stratified by class, and never a group on both sides."""

import warnings

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedShuffleSplit

from bagwise.errors import InputError


def hold_out(targets: np.ndarray, groups: np.ndarray | None, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to keep and rows to hold out, both in rising order.

    >>> kept, held = hold_out(np.array([0, 0, 0, 0, 1, 1, 1, 1]), None, 0.25, seed=1)
    >>> len(kept), len(held)
    (6, 2)
    """
    if not 0 < share < 1:
        raise InputError(f"the share to hold out is {share}; it must lie between 0 and 1")
    seed %= 1 << 32
    try:
        kept, held = _by_class(targets, share, seed) if groups is None else _by_group(targets, groups, share, seed)
    except ValueError as error:
        raise InputError(f"cannot hold out {share:g} of {len(targets)} bags: {error}") from None
    if len(np.unique(targets[kept])) < len(np.unique(targets)):
        raise InputError("holding out by group leaves a class without training bags; give validation bags yourself")
    return np.sort(kept), np.sort(held)


def _by_class(targets: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    splitter = StratifiedShuffleSplit(n_splits=1, test_size=share, random_state=seed)
    return next(splitter.split(targets, targets))


def _by_group(targets: np.ndarray, groups: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One fold of as many as come closest to the share: whole groups, with classes as even as groups allow."""
    folds = max(2, round(1 / min(share, 1 - share)))
    splitter = StratifiedGroupKFold(n_splits=min(folds, len(np.unique(groups))), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class in few groups is refused by the caller, with the fix
        kept, held = next(splitter.split(targets, targets, groups))
    return (kept, held) if share <= 0.5 else (held, kept)
