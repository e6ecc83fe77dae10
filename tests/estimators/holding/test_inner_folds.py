import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.estimators.holding.inner_folds import inner_folds

TARGETS = np.array([0, 1] * 10)


def test_every_row_is_held_out_once_and_never_learned_from_meanwhile():
    folds = inner_folds(TARGETS, None, 4, seed=1)
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(20))
    for kept, held in folds:
        assert sorted([*kept, *held]) == list(range(20))
        assert set(TARGETS[kept]) == {0, 1}


def test_no_group_is_on_both_sides():
    groups = np.arange(20) // 4
    for kept, held in inner_folds(TARGETS, groups, 3, seed=1):
        assert not set(groups[kept]) & set(groups[held])


def test_there_are_fewer_where_a_class_or_groups_are_few():
    assert len(inner_folds(np.array([0] * 10 + [1, 1]), None, 5, seed=1)) == 2
    assert len(inner_folds(TARGETS, np.arange(20) // 7, 5, seed=1)) == 3


def test_a_fold_that_takes_a_whole_class_away_is_left_out():
    targets, groups = np.array([0, 0, 1, 1, 0, 0]), np.array([0, 0, 1, 1, 2, 2])
    folds = inner_folds(targets, groups, 3, seed=1)
    assert 0 < len(folds) < 3
    assert all(set(targets[kept]) == {0, 1} for kept, _ in folds)


@pytest.mark.parametrize(
    ("targets", "groups", "folds", "message"),
    [
        ([0, 0, 1], None, 2, "a class has one training bag only; nothing can be held out to choose by"),
        ([0, 0, 1, 1], [5, 5, 5, 5], 2, "all training bags belong to one group; nothing can be held out"),
        ([0, 0, 1, 1], [5, 5, 6, 6], 2, "no fold of the training bags leaves a bag of every class to learn from"),
        ([0, 0, 1, 1], None, 1, "folds is 1; it must be a whole number of at least 2"),
    ],
    ids=["rare class", "one group", "a class in one group", "one fold"],
)
def test_what_cannot_be_divided_is_refused(targets, groups, folds, message):
    with pytest.raises(InputError, match=message):
        inner_folds(np.array(targets), None if groups is None else np.array(groups), folds, seed=1)
