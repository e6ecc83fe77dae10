"""Which bags are learned from and which are judged: repeated stratified folds, hold-outs, or splits from files.

Bags of a group (a patient) are never on both sides, unless the user says so and is warned.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.folds import stratified_folds
from bagwise.formats.split_files import read_splits
from bagwise.quantities import whole_number
from bagwise.randomness import Purpose
from bagwise.splits import hold_out


class Split(NamedTuple):
    """One fit and one judgement: rows to learn from, rows to judge, and where it stands in the protocol."""

    repeat: int
    fold: int
    training: np.ndarray
    test: np.ndarray


def repeated_folds(
    bags: Bags, targets: np.ndarray, n_folds: int = 10, n_repeats: int = 1, seed: int = 0, grouped: bool = True
) -> list[Split]:
    """Stratified k-fold cross-validation, repeated with other folds; by group where bags have groups.

    >>> from bagwise.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=20)
    >>> [len(split.test) for split in repeated_folds(bags, bags.labels, n_folds=5)]
    [4, 4, 4, 4, 4]
    """
    whole_number("folds", n_folds, least=2)
    whole_number("repeats", n_repeats, least=1)
    _check_counts(targets, n_folds)
    groups = apart(bags, grouped)
    splits = []
    for repeat in range(n_repeats):
        draw = randomness.integer(seed, Purpose.SPLIT, 2, repeat)
        for fold, (training, test) in enumerate(stratified_folds(targets, groups, n_folds, draw)):
            splits.append(Split(repeat, fold, training, test))
    return checked(splits, groups)


def repeated_hold_out(
    bags: Bags, targets: np.ndarray, share: float = 0.2, n_repeats: int = 1, seed: int = 0, grouped: bool = True
) -> list[Split]:
    """A share of the bags held out, by class and by group, as often as asked."""
    groups = apart(bags, grouped)
    splits = []
    for repeat in range(whole_number("repeats", n_repeats, least=1)):
        draw = randomness.integer(seed, Purpose.SPLIT, 3, repeat)
        splits.append(Split(repeat, 0, *hold_out(targets, groups, share, draw)))
    return checked(splits, groups)


def from_files(bags: Bags, paths: Sequence[str], grouped: bool = True) -> list[Split]:
    """A split for each file (CLAM's splits_k.csv): its validation bags are learned from, like its training bags."""
    if bags.names is None:
        raise InputError("splits from files name their bags, and these bags have no names")
    splits = []
    for fold, path in enumerate(paths):
        training, validation, test = read_splits(path).rows(bags.names, Path(path))
        splits.append(Split(0, fold, np.sort(np.concatenate([training, validation])), np.sort(test)))
    return checked(splits, apart(bags, grouped))


def checked(splits: Sequence[Split], groups: np.ndarray | None) -> list[Split]:
    """Splits that judge no bag, and no group, that was learned from; others are refused."""
    for split in splits:
        place = f"repeat {split.repeat}, fold {split.fold}"
        if len(split.training) == 0 or len(split.test) == 0:
            raise InputError(f"{place} has no {'training' if len(split.training) == 0 else 'test'} bags")
        if shared := np.intersect1d(split.training, split.test).tolist():
            raise InputError(f"{place} judges bags that it learns from: rows {shared[:5]}; keep the two sides apart")
        if groups is not None and (shared := np.intersect1d(groups[split.training], groups[split.test]).tolist()):
            raise InputError(
                f"{place} has groups on both sides: {shared[:5]}; keep them together, or allow it: --ungrouped"
            )
    return list(splits)


def check_classes(split: Split, labels: np.ndarray) -> None:
    """Refuse a split whose training bags lack a class: what was fitted would not know it."""
    missing = np.setdiff1d(labels, labels[split.training])
    if len(missing):
        raise InputError(
            f"repeat {split.repeat}, fold {split.fold} has no training bag of class '{missing[0]}': its bags lie "
            "in too few groups, or the split leaves them out; ask for fewer folds, add bags, or split otherwise"
        )


def apart(bags: Bags, grouped: bool) -> np.ndarray | None:
    """The groups whose bags must stay on one side of a split; None where the user lets them be torn apart."""
    if bags.groups is not None and not grouped:
        warnings.warn(
            "bags of one group (a patient) may be on both sides of a split: scores will be too good", stacklevel=3
        )
        return None
    return bags.groups


def _check_counts(targets: np.ndarray, n_folds: int) -> None:
    fewest = int(np.unique(targets, return_counts=True)[1].min())
    if fewest < n_folds:
        raise InputError(f"a class has {fewest} bags, too few for {n_folds} folds; ask for at most {max(fewest, 2)}")
