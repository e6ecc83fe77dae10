import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.folds import stratified_folds

TARGETS = np.array([0, 1, 1] * 20)


def test_every_bag_is_held_out_once_with_classes_even():
    folds = list(stratified_folds(TARGETS, None, 5, seed=3))
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(60))
    for kept, held in folds:
        assert set(kept) | set(held) == set(range(60))
        assert TARGETS[held].sum() == 8


def test_a_group_is_never_in_two_folds():
    groups = np.repeat(np.arange(20), 3)
    for kept, held in stratified_folds(TARGETS, groups, 5, seed=3):
        assert not set(groups[kept]) & set(groups[held])


def test_a_seed_of_any_size_gives_the_same_folds_again():
    first, again, other = (
        [held.tolist() for _, held in stratified_folds(TARGETS, None, 5, seed=seed)] for seed in (1 << 62, 1 << 62, 7)
    )
    assert first == again != other


def test_fewer_groups_than_folds_are_refused():
    with pytest.raises(InputError, match="3 groups, too few for 5 folds"):
        list(stratified_folds(TARGETS, np.arange(60) % 3, 5, seed=0))
