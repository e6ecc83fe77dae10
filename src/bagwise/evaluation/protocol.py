"""Evaluation protocols: which bags a model is fitted on and which it is evaluated on.

Splits are repeated stratified folds, repeated hold-outs, or read from files. The bags of a group (e.g. a patient) are
never divided between training and test bags unless the user allows it, which raises a warning.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bagwise.arguments import check_whole_number
from bagwise.bags import Bags, hold_out, make_stratified_folds, read_split_file
from bagwise.errors import InputError
from bagwise.nn import Purpose, random_integer


class Split(NamedTuple):
    """One division of the bags into training and test bags.

    Attributes
    ----------
    repeat : int
        Index of the repeat within the protocol, from 0.
    fold : int
        Index of the fold within the repeat, from 0.
    training : ndarray of int
        Indices of the bags to fit on.
    test : ndarray of int
        Indices of the bags to evaluate on.
    """

    repeat: int
    fold: int
    training: np.ndarray
    test: np.ndarray

    @property
    def title(self) -> str:
        """Name of the split in error messages."""
        return f"repeat {self.repeat}, fold {self.fold}"


def make_repeated_folds(
    bags: Bags, strata: np.ndarray, n_folds: int = 10, n_repeats: int = 1, seed: int = 0, grouped: bool = True
) -> list[Split]:
    """Make the splits of a repeated stratified k-fold cross-validation.

    Parameters
    ----------
    bags : Bags
        The bags to split.
    strata : ndarray of shape (n_bags,)
        Stratum of each bag: for classes, its label.
    n_folds : int, default=10
        Number of folds.
    n_repeats : int, default=1
        Number of repeats, each with different folds.
    seed : int, default=0
        Seed of the folds.
    grouped : bool, default=True
        Keep the bags of a group in the same fold, if the bags have groups.

    Returns
    -------
    list of Split

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=20)
    >>> [len(split.test) for split in make_repeated_folds(bags, bags.labels, n_folds=5)]
    [4, 4, 4, 4, 4]
    """
    check_whole_number("folds", n_folds, minimum=2)
    check_whole_number("repeats", n_repeats, minimum=1)
    _check_class_counts(strata, n_folds)
    groups = get_groups(bags, grouped)
    splits = []
    for repeat in range(n_repeats):
        repeat_seed = random_integer(seed, Purpose.SPLIT, 2, repeat)
        for fold, (training, test) in enumerate(make_stratified_folds(strata, groups, n_folds, repeat_seed)):
            splits.append(Split(repeat=repeat, fold=fold, training=training, test=test))
    return check_splits(splits, groups)


def _check_class_counts(strata: np.ndarray, n_folds: int) -> None:
    smallest = int(np.unique(strata, return_counts=True)[1].min())
    if smallest < n_folds:
        raise InputError(
            f"a class has only {smallest} bags, too few for {n_folds} folds; use at most --folds {max(smallest, 2)}"
        )


def make_repeated_hold_out(
    bags: Bags, strata: np.ndarray, share: float = 0.2, n_repeats: int = 1, seed: int = 0, grouped: bool = True
) -> list[Split]:
    """Make splits that hold out a random share of the bags, stratified by class.

    Parameters
    ----------
    bags : Bags
        The bags to split.
    strata : ndarray of shape (n_bags,)
        Stratum of each bag: for classes, its label.
    share : float, default=0.2
        Share of the bags to hold out, between 0 and 1.
    n_repeats : int, default=1
        Number of repeats, each holding out different bags.
    seed : int, default=0
        Seed of the splits.
    grouped : bool, default=True
        Keep the bags of a group together, if the bags have groups.

    Returns
    -------
    list of Split
    """
    groups = get_groups(bags, grouped)
    splits = []
    for repeat in range(check_whole_number("repeats", n_repeats, minimum=1)):
        repeat_seed = random_integer(seed, Purpose.SPLIT, 3, repeat)
        training, test = hold_out(strata, groups, share, repeat_seed)
        splits.append(Split(repeat=repeat, fold=0, training=training, test=test))
    return check_splits(splits, groups)


def read_splits(bags: Bags, paths: Sequence[str], grouped: bool = True) -> list[Split]:
    """Read one split per file, in the format of CLAM's splits_k.csv; validation bags become training bags."""
    if bags.names is None:
        raise InputError(
            "split files refer to bags by name, but these bags have no names; give them names, e.g. Bags(…, names=…)"
        )
    splits = []
    for fold, path in enumerate(paths):
        training, validation, test = read_split_file(path).rows(bags.names, Path(path))
        rows = np.sort(np.concatenate([training, validation]))
        splits.append(Split(repeat=0, fold=fold, training=rows, test=np.sort(test)))
    return check_splits(splits, get_groups(bags, grouped))


def get_groups(bags: Bags, grouped: bool) -> np.ndarray | None:
    """Return the groups that must not be divided between training and test bags.

    Parameters
    ----------
    bags : Bags
        Bags, with or without groups.
    grouped : bool
        If False, groups may be divided; a warning is raised if the bags have groups.

    Returns
    -------
    ndarray of shape (n_bags,) or None
        None if there are no groups, or if they may be divided.
    """
    if bags.groups is not None and not grouped:
        warnings.warn(
            "bags of one group (e.g. a patient) may be both in the training and in the test part: the metrics are "
            "too optimistic",
            stacklevel=3,
        )
        return None
    return bags.groups


def check_splits(splits: Sequence[Split], groups: np.ndarray | None) -> list[Split]:
    """Check that no bag, and no group, is both in the training and in the test part of a split.

    Parameters
    ----------
    splits : sequence of Split
        The splits to check.
    groups : ndarray of shape (n_bags,) or None
        Groups that must not be divided.

    Returns
    -------
    list of Split
        The splits, unchanged.

    Raises
    ------
    InputError
        If a part is empty, or if a bag or group is in both parts.
    """
    for split in splits:
        if len(split.training) == 0 or len(split.test) == 0:
            part = "training" if len(split.training) == 0 else "test"
            raise InputError(f"{split.title} has no {part} bags; add at least one")
        if shared := np.intersect1d(split.training, split.test).tolist():
            raise InputError(
                f"{split.title} uses the same bags for training and test: rows {shared[:5]}; remove them from one part"
            )
        if groups is not None and (shared := np.intersect1d(groups[split.training], groups[split.test]).tolist()):
            raise InputError(
                f"{split.title} has groups in both the training and the test part: {shared[:5]}; keep the bags of a "
                "group in one part, or allow this with --ungrouped"
            )
    return list(splits)


def check_split_strata(split: Split, strata: np.ndarray) -> None:
    """Reject a split whose training bags lack a stratum, such as a class, which the fitted model could not predict."""
    missing = np.setdiff1d(strata, strata[split.training])
    if len(missing):
        raise InputError(
            f"{split.title} has no training bag of class '{missing[0]}': its bags are in too few groups, or the split "
            "leaves them out; use fewer folds, add bags, or choose another split"
        )
