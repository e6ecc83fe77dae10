"""Folds of bags: stratified by class, and never a group in two of them."""

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from bagwise.errors import InputError


def stratified_folds(
    targets: np.ndarray, groups: np.ndarray | None, n_folds: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each fold the rows to learn from and the rows held out.

    >>> [held.tolist() for _, held in stratified_folds(np.array([0, 0, 1, 1]), None, 2, seed=1)]
    [[0, 2], [1, 3]]
    """
    splitter: StratifiedKFold | StratifiedGroupKFold
    if groups is None:
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed % (1 << 32))
    else:
        n_groups = len(np.unique(groups))
        if n_groups < n_folds:
            raise InputError(f"the bags form {n_groups} groups, too few for {n_folds} folds; ask for fewer folds")
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed % (1 << 32))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer bags than folds: even as far as can be
        yield from splitter.split(targets, targets, groups)
