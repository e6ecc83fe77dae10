"""Splits of bags, stratified by class: a hold-out set, or folds. The bags of a group are never separated."""

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit

from bagwise.arguments import check_real_number, check_whole_number
from bagwise.errors import InputError

Folds = list[tuple[np.ndarray, np.ndarray]]  # per fold: indices of the training bags and of the held-out bags

MAX_FOLDS = 10  # unless the share is below 0.1 or above 0.9; classes are uneven in many folds of few groups


def hold_out(targets: np.ndarray, groups: np.ndarray | None, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Split bags into a part to keep and a part to hold out.

    Parameters
    ----------
    targets : numpy.ndarray of shape (n_bags,)
        Class of each bag; both parts have about the same class proportions.
    groups : numpy.ndarray of shape (n_bags,) or None
        Group of each bag, which is never separated; None means no groups.
    share : float
        Share of the bags to hold out, between 0 and 1.
    seed : int
        Random seed of the split.

    Returns
    -------
    tuple of (numpy.ndarray, numpy.ndarray)
        Indices of the bags to keep and of those to hold out, both in ascending order.

    Raises
    ------
    InputError
        If there are too few bags or groups for both parts.

    Examples
    --------
    >>> kept, held_out = hold_out(np.array([0, 0, 0, 0, 1, 1, 1, 1]), None, 0.25, seed=1)
    >>> len(kept), len(held_out)
    (6, 2)
    """
    share = check_real_number("the share to hold out", share, above=0, below=1)
    seed %= 1 << 32
    if groups is None:
        kept, held_out = _split_by_class(targets, share, seed)
    else:
        kept, held_out = _split_by_group(targets, groups, share, seed)
    return np.sort(kept), np.sort(held_out)


def make_stratified_folds(
    targets: np.ndarray, groups: np.ndarray | None, n_folds: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split bags into stratified folds.

    Parameters
    ----------
    targets : numpy.ndarray of shape (n_bags,)
        Class of each bag; all folds have about the same class proportions.
    groups : numpy.ndarray of shape (n_bags,) or None
        Group of each bag; no group is in two folds. None means no groups.
    n_folds : int
        Number of folds.
    seed : int
        Random seed of the split.

    Yields
    ------
    tuple of (numpy.ndarray, numpy.ndarray)
        For each fold, the indices of the training bags and of the held-out bags.

    Raises
    ------
    InputError
        If there are fewer groups than folds.

    Examples
    --------
    >>> [held_out.tolist() for _, held_out in make_stratified_folds(np.array([0, 0, 1, 1]), None, 2, seed=1)]
    [[0, 2], [1, 3]]
    """
    splitter: StratifiedKFold | StratifiedGroupKFold
    if groups is None:
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed % (1 << 32))
    else:
        n_groups = len(np.unique(groups))
        if n_groups < n_folds:
            raise InputError(f"the bags form {n_groups} groups, too few for {n_folds} folds; use fewer folds")
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed % (1 << 32))
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # a class with fewer bags than folds is split as evenly as possible
        yield from splitter.split(targets, targets, groups)


def make_inner_folds(strata: np.ndarray, groups: np.ndarray | None, folds: Any, seed: int) -> Folds:
    """Return stratified folds whose training bags include every stratum (for classes, every class).

    There are fewer folds than requested if every class has fewer bags, or if there are fewer groups. Folds whose
    training bags lack a class are omitted. A rare class is in some of the held-out parts only.
    """
    n_folds = _limit_folds(strata, groups, check_whole_number("folds", folds, minimum=2))
    candidates = make_stratified_folds(strata, groups, n_folds, seed)
    complete = [
        (training, held_out) for training, held_out in candidates if len(np.setdiff1d(strata, strata[training])) == 0
    ]
    if not complete:
        raise InputError("in every fold, the training bags lack a class; add bags, or use more groups")
    return complete


def _limit_folds(strata: np.ndarray, groups: np.ndarray | None, requested: int) -> int:
    counts = np.unique(strata, return_counts=True)[1]
    rarest, largest = int(counts.min()), int(counts.max())
    n_groups = len(strata) if groups is None else len(np.unique(groups))
    if min(rarest, n_groups) < 2:
        reason = "a class has only one training bag" if rarest < 2 else "all training bags belong to one group"
        raise InputError(f"{reason}, so none can be held out; add bags or groups")
    return min(requested, largest, n_groups)


def _split_by_class(targets: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    classes, counts = np.unique(targets, return_counts=True)
    if counts.min() < 2:
        raise _make_rare_class_error(classes[counts.argmin()])
    n_held_out = math.ceil(share * len(targets))
    if not len(classes) <= n_held_out <= len(targets) - len(classes):
        raise InputError(
            f"a share of {share:g} holds out {n_held_out} of {len(targets)} bags, but both parts need a bag of each of "
            f"the {len(classes)} classes; choose another share, or add bags"
        )
    splitter = StratifiedShuffleSplit(n_splits=1, test_size=n_held_out, random_state=seed)
    return next(splitter.split(targets, targets))


def _split_by_group(targets: np.ndarray, groups: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Hold out m of k folds of whole groups; classes are balanced as well as the groups allow."""
    n_groups = len(np.unique(groups))
    if n_groups < 2:
        raise InputError(
            f"all {len(targets)} bags belong to one group, '{groups[0]}', and a group is never split; "
            "give smaller groups, or none"
        )
    classes, counts = np.unique(targets, return_counts=True)
    if counts.max() < 2:
        raise _make_rare_class_error(classes[0])
    n_folds, n_chosen = _choose_folds(share, min(n_groups, int(counts.max())))
    splitter = StratifiedGroupKFold(n_splits=n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class that is in too few groups is rejected below
        folds = [held_out for _, held_out in splitter.split(targets, targets, groups)]
    held_out, kept = np.concatenate(folds[:n_chosen]), np.concatenate(folds[n_chosen:])
    _check_classes(targets, groups, kept)
    return kept, held_out


def _choose_folds(share: float, max_folds: int) -> tuple[int, int]:
    """Return (k, m) such that m / k is closest to the share; the smallest k among equally good ones.

    >>> [_choose_folds(share, max_folds=100) for share in (0.2, 0.4, 0.05)], _choose_folds(0.4, max_folds=2)
    ([(5, 1), (5, 2), (20, 1)], (2, 1))
    """
    limit = min(max_folds, max(MAX_FOLDS, round(1 / min(share, 1 - share))))
    pairs = [(n_folds, n_chosen) for n_folds in range(2, limit + 1) for n_chosen in range(1, n_folds)]
    return min(pairs, key=lambda pair: (round(abs(pair[1] / pair[0] - share), 9), pair[0]))


def _make_rare_class_error(target: Any) -> InputError:
    return InputError(f"class {target} has only one bag, but both parts need one; add bags of this class, or drop it")


def _check_classes(targets: np.ndarray, groups: np.ndarray, kept: np.ndarray) -> None:
    lost = np.setdiff1d(targets, targets[kept])
    if len(lost):
        groups_of_class = groups[targets == lost[0]]
        n_groups = len(np.unique(groups_of_class))
        raise InputError(
            f"holding out whole groups keeps no bag of class {lost[0]}, whose {len(groups_of_class)} bags belong to "
            f"{n_groups} group{'s' * (n_groups != 1)}; add groups with that class, or choose the held-out bags yourself"
        )
