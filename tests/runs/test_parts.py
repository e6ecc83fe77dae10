import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.runs.parts import split_source
from bagwise.storage import save_bags


def split(data, test=None, seed=0, **options):
    return split_source(data=str(data), options=options, test=test, split_seed=seed)


def test_a_data_set_is_judged_by_its_own_test_bags():
    parts = split("digits", n_bags=10)
    assert parts.training.names[0] == "train-0000"
    assert parts.test.names[0] == "test-0000"


def test_without_test_bags_a_fifth_is_held_out_and_a_share_can_be_given():
    parts = split("needles", n_bags=50)
    assert len(parts.test) == 10
    assert not set(parts.training.names) & set(parts.test.names)
    assert len(split("needles", test=0.5, n_bags=50).test) == 25
    assert (split("needles", seed=1, n_bags=50).test.names != parts.test.names).any()


def test_groups_stay_together(tmp_path):
    bags = load_dataset("needles", n_bags=40).replace(groups=np.repeat(np.arange(10), 4))
    save_bags(bags, tmp_path / "bags")
    parts = split(tmp_path / "bags")
    assert not set(parts.training.groups) & set(parts.test.groups)


def test_other_data_can_be_the_test(tmp_path):
    save_bags(load_dataset("needles", n_bags=8, seed=1), tmp_path / "other")
    assert len(split("needles", test=str(tmp_path / "other")).test) == 8


def test_bags_without_labels_are_refused(tmp_path):
    save_bags(load_dataset("needles", n_bags=8).replace(labels=None), tmp_path / "bags")
    with pytest.raises(InputError, match="have no labels"):
        split(tmp_path / "bags")
    with pytest.raises(InputError, match="have no labels"):
        split("needles", test=str(tmp_path / "bags"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda bags: bags.map(lambda rows: rows[:, :3]), "instances of shape .3,., the training bags of .16,."),
        (lambda bags: bags.replace(labels=np.full(8, "1")), "labels '1' are unknown to the model"),
        (lambda bags: bags.replace(labels=np.arange(8)), "labels 2, 3, 4, 5, 6, 7 are unknown"),
        (lambda bags: bags.replace(labels=None), "have no labels"),
    ],
    ids=["shape", "words", "classes", "none"],
)
def test_test_bags_of_another_kind_are_refused_before_training(tmp_path, change, message):
    save_bags(change(load_dataset("needles", n_bags=8)), tmp_path / "other")
    with pytest.raises(InputError, match=message):
        split("needles", test=str(tmp_path / "other"))


def test_test_bags_of_another_extractor_are_refused(tmp_path):
    for name in ("one", "two"):
        save_bags(load_dataset("needles", n_bags=8).replace(extractor=name), tmp_path / name)
    with pytest.raises(InputError, match="features of 'two', the training bags of 'one'"):
        split(tmp_path / "one", test=str(tmp_path / "two"))


def test_a_file_can_say_which_bags_are_for_what(tmp_path):
    names = load_dataset("needles", n_bags=6).names
    path = tmp_path / "splits.csv"
    path.write_text(f",train,val,test\n0,{names[4]},{names[0]},{names[2]}\n1,{names[1]},,{names[3]}\n")
    options = {"data": "needles", "options": {"n_bags": 6}, "split_seed": 0, "splits": str(path)}
    parts = split_source(test=None, **options)
    assert [part.names.tolist() for part in (parts.training, parts.validation, parts.test)] == [
        [names[4], names[1]],
        [names[0]],
        [names[2], names[3]],
    ]
    with pytest.raises(InputError, match="leave test out"):
        split_source(test=0.2, **options)
