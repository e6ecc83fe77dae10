"""Holding bags out: stratified by class, and never a group on both sides."""

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

from bagwise.errors import InputError


def hold_out(targets: np.ndarray, groups: np.ndarray | None, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to keep and rows to hold out, both in rising order.

    >>> kept, held = hold_out(np.array([0, 0, 0, 0, 1, 1, 1, 1]), None, 0.25, seed=1)
    >>> len(kept), len(held)
    (6, 2)
    """
    if not 0 < share < 1:
        raise InputError(f"the share to hold out is {share}; it must lie between 0 and 1")
    split = StratifiedShuffleSplit if groups is None else GroupShuffleSplit
    splitter = split(n_splits=1, test_size=share, random_state=seed % (1 << 32))
    try:
        kept, held = next(splitter.split(np.zeros(len(targets)), targets, groups))
    except ValueError as error:
        raise InputError(f"cannot hold out {share:g} of {len(targets)} bags: {error}") from None
    if len(np.unique(targets[kept])) < len(np.unique(targets)):
        raise InputError("holding out by group leaves a class without training bags; give validation bags yourself")
    return np.sort(kept), np.sort(held)
