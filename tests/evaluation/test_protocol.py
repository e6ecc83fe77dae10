import numpy as np
import pytest

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.evaluation.protocol import (
    Split,
    check_split_strata,
    check_splits,
    make_repeated_folds,
    make_repeated_hold_out,
    read_splits,
)

NEEDLES = load_dataset("needles", n_bags=60)
GROUPED = NEEDLES.replace(groups=np.arange(60) // 4)


def test_make_repeated_folds_tests_every_bag_once_per_repeat():
    splits = make_repeated_folds(NEEDLES, NEEDLES.labels, n_folds=5, n_repeats=3, seed=1)
    assert [(split.repeat, split.fold) for split in splits] == [(r, f) for r in range(3) for f in range(5)]
    tested = {}
    for split in splits:
        tested.setdefault(split.repeat, []).extend(split.test.tolist())
        assert sorted([*split.training, *split.test]) == list(range(60))
    assert all(sorted(rows) == list(range(60)) for rows in tested.values())
    assert splits[0].test.tolist() != splits[5].test.tolist()


def test_make_repeated_folds_depends_on_the_seed_only():
    first, again, other = (
        [split.test.tolist() for split in make_repeated_folds(NEEDLES, NEEDLES.labels, 5, 2, seed)]
        for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_folds": 1}, "folds"),
        ({"n_repeats": 0}, "repeats"),
        ({"n_folds": 50}, "too few for 50 folds; use at most --folds 30"),
    ],
    ids=str,
)
def test_make_repeated_folds_rejects_impossible_numbers(arguments, message):
    with pytest.raises(InputError, match=message):
        make_repeated_folds(NEEDLES, NEEDLES.labels, **arguments)


@pytest.mark.parametrize("make_splits", [make_repeated_folds, make_repeated_hold_out])
def test_make_repeated_splits_keep_groups_together(make_splits):
    for split in make_splits(GROUPED, GROUPED.labels):
        assert not set(GROUPED.groups[split.training]) & set(GROUPED.groups[split.test])


@pytest.mark.parametrize("make_splits", [make_repeated_folds, make_repeated_hold_out])
def test_make_repeated_splits_warn_if_groups_may_be_divided(make_splits):
    with pytest.warns(UserWarning, match="the metrics are too optimistic"):
        splits = make_splits(GROUPED, GROUPED.labels, grouped=False)
    assert any(set(GROUPED.groups[split.training]) & set(GROUPED.groups[split.test]) for split in splits)


def test_read_splits_adds_validation_bags_to_the_training_bags(tmp_path):
    bags = load_dataset("needles", n_bags=6)
    names = list(bags.names)
    path = tmp_path / "splits_0.csv"
    path.write_text(f",train,val,test\n0,{names[4]},{names[0]},{names[2]}\n1,{names[1]},,{names[3]}\n")
    (split,) = read_splits(bags, [str(path)])
    assert (split.training.tolist(), split.test.tolist()) == ([0, 1, 4], [2, 3])
    with pytest.raises(InputError, match=r"groups in both the training and the test part: \[1\]"):
        read_splits(bags.replace(groups=np.array([0, 0, 1, 1, 1, 2])), [str(path)])
    with pytest.raises(InputError, match="have no names"):
        read_splits(bags.replace(names=None), [str(path)])


def test_check_splits_rejects_shared_bags_shared_groups_and_empty_parts():
    rows = np.arange(10)
    with pytest.raises(InputError, match=r"repeat 0, fold 0 uses the same bags for training and test: rows \[4\]"):
        check_splits([Split(0, 0, rows[:5], rows[4:])], None)
    with pytest.raises(InputError, match=r"groups in both the training and the test part: \[2\].*--ungrouped"):
        check_splits([Split(0, 0, rows[:5], rows[5:])], rows // 2)
    with pytest.raises(InputError, match="has no test bags"):
        check_splits([Split(0, 0, rows, rows[:0])], None)


def test_check_split_strata_rejects_a_class_without_training_bags():
    labels = np.array(["a", "b", "c", "a", "b", "c"])
    check_split_strata(Split(0, 0, np.array([0, 1, 2]), np.array([3, 4, 5])), labels)
    with pytest.raises(InputError, match="repeat 0, fold 1 has no training bag of class 'a'"):
        check_split_strata(Split(0, 1, np.array([1, 2, 4]), np.array([0, 3])), labels)
