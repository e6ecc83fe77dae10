import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.evaluation.protocol import Split, check_classes, checked, from_files, repeated_folds, repeated_hold_out

NEEDLES = load_dataset("needles", n_bags=60)
GROUPED = NEEDLES.replace(groups=np.arange(60) // 4)


def test_every_bag_is_judged_once_a_repeat_and_repeats_differ():
    splits = repeated_folds(NEEDLES, NEEDLES.labels, n_folds=5, n_repeats=3, seed=1)
    assert [(split.repeat, split.fold) for split in splits] == [(r, f) for r in range(3) for f in range(5)]
    folds = {}
    for split in splits:
        folds.setdefault(split.repeat, []).extend(split.test.tolist())
        assert sorted([*split.training, *split.test]) == list(range(60))
    assert all(sorted(rows) == list(range(60)) for rows in folds.values())
    assert splits[0].test.tolist() != splits[5].test.tolist()


def test_a_seed_gives_the_same_folds_and_another_others():
    first, again, other = (
        [split.test.tolist() for split in repeated_folds(NEEDLES, NEEDLES.labels, 5, 2, seed)] for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize("make", [repeated_folds, repeated_hold_out])
def test_groups_stay_together_unless_the_user_says_otherwise_and_is_warned(make):
    for split in make(GROUPED, GROUPED.labels):
        assert not set(GROUPED.groups[split.training]) & set(GROUPED.groups[split.test])
    with pytest.warns(UserWarning, match="scores will be too good"):
        apart = make(GROUPED, GROUPED.labels, grouped=False)
    assert any(set(GROUPED.groups[split.training]) & set(GROUPED.groups[split.test]) for split in apart)


def test_learning_from_what_is_judged_is_refused():
    rows = np.arange(10)
    with pytest.raises(InputError, match=r"judges bags that it learns from: rows .4"):
        checked([Split(0, 0, rows[:5], rows[4:])], None)
    with pytest.raises(InputError, match=r"groups on both sides: .2"):
        checked([Split(0, 0, rows[:5], rows[5:])], rows // 2)
    with pytest.raises(InputError, match="has no test bags"):
        checked([Split(0, 0, rows, rows[:0])], None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"n_folds": 1}, "folds is 1"),
        ({"n_repeats": 0}, "repeats is 0"),
        ({"n_folds": 50}, "too few for 50 folds"),
    ],
    ids=str,
)
def test_impossible_protocols_are_refused(words, message):
    with pytest.raises(InputError, match=message):
        repeated_folds(NEEDLES, NEEDLES.labels, **words)


def test_splits_come_from_files_and_validation_bags_are_learned_from(tmp_path):
    bags = load_dataset("needles", n_bags=6)
    names = list(bags.names)
    path = tmp_path / "splits_0.csv"
    path.write_text(f",train,val,test\n0,{names[4]},{names[0]},{names[2]}\n1,{names[1]},,{names[3]}\n")
    (split,) = from_files(bags, [str(path)])
    assert (split.training.tolist(), split.test.tolist()) == ([0, 1, 4], [2, 3])
    with pytest.raises(InputError, match="groups on both sides"):
        from_files(bags.replace(groups=np.array([0, 0, 1, 1, 1, 2])), [str(path)])
    with pytest.raises(InputError, match="have no names"):
        from_files(bags.replace(names=None), [str(path)])


def test_a_split_whose_training_bags_lack_a_class_is_refused():
    labels = np.array(["a", "b", "c", "a", "b", "c"])
    check_classes(Split(0, 0, np.array([0, 1, 2]), np.array([3, 4, 5])), labels)
    with pytest.raises(InputError, match="repeat 0, fold 1 has no training bag of class 'a'"):
        check_classes(Split(0, 1, np.array([1, 2, 4]), np.array([0, 3])), labels)
