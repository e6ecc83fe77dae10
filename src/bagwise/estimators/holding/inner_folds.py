"""Folds of the training bags, by which something is chosen so that no test bag has a say."""

from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.folds import stratified_folds
from bagwise.quantities import whole_number

Folds = list[tuple[np.ndarray, np.ndarray]]  # of each: the rows to learn from, the rows held out


def inner_folds(targets: np.ndarray, groups: np.ndarray | None, folds: Any, seed: int) -> Folds:
    """Folds whose training bags hold every class, which folds of few groups may not; fewer where bags are few."""
    n_folds = _n_folds(targets, groups, whole_number("folds", folds, least=2))
    found = stratified_folds(targets, groups, n_folds, seed)
    whole = [(kept, held) for kept, held in found if len(np.setdiff1d(targets, targets[kept])) == 0]
    if not whole:
        raise InputError("no fold of the training bags leaves a bag of every class to learn from; add groups or bags")
    return whole


def _n_folds(targets: np.ndarray, groups: np.ndarray | None, wanted: int) -> int:
    rarest = int(np.bincount(targets).min())
    n_groups = len(targets) if groups is None else len(np.unique(groups))
    if min(rarest, n_groups) < 2:
        what = "a class has one training bag only" if rarest < 2 else "all training bags belong to one group"
        raise InputError(f"{what}; nothing can be held out to choose by")
    return min(wanted, rarest, n_groups)
