import numpy as np
import pytest

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.runs.parts import check_disjoint_groups, split_source


def split(data, test=None, seed=0, **options):
    return split_source(data=str(data), options=options, test=test, split_seed=seed)


def test_split_source_uses_the_test_bags_of_a_data_set():
    parts = split("digits", n_bags=10)
    assert parts.training.names[0] == "train-0000"
    assert parts.test.names[0] == "test-0000"


def test_split_source_holds_out_a_fifth_or_the_given_share():
    parts = split("needles", n_bags=50)
    assert len(parts.test) == 10
    assert not set(parts.training.names) & set(parts.test.names)
    assert len(split("needles", test=0.5, n_bags=50).test) == 25
    assert (split("needles", seed=1, n_bags=50).test.names != parts.test.names).any()


def test_split_source_keeps_groups_together(tmp_path):
    bags = load_dataset("needles", n_bags=40).replace(groups=np.repeat(np.arange(10), 4))
    save_bags(bags, tmp_path / "bags")
    parts = split(tmp_path / "bags")
    assert not set(parts.training.groups) & set(parts.test.groups)


def test_split_source_tests_on_other_data(tmp_path):
    save_bags(load_dataset("needles", n_bags=8, seed=1), tmp_path / "other")
    assert len(split("needles", test=str(tmp_path / "other")).test) == 8


def test_split_source_reads_a_split_file(tmp_path):
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
    with pytest.raises(InputError, match="leave out --test"):
        split_source(test=0.2, **options)


def test_split_source_rejects_bags_without_labels(tmp_path):
    save_bags(load_dataset("needles", n_bags=8).replace(labels=None), tmp_path / "bags")
    with pytest.raises(InputError, match="no labels"):
        split(tmp_path / "bags")
    with pytest.raises(InputError, match="no labels"):
        split("needles", test=str(tmp_path / "bags"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda bags: bags.map(lambda rows: rows[:, :3]), "instances of shape .3,., but the training bags have .16,."),
        (lambda bags: bags.replace(labels=np.full(8, "1")), "the test bags of .*'1'"),
        (lambda bags: bags.replace(labels=np.arange(8)), "the test bags of .*2, 3, 4, 5, 6, 7"),
        (lambda bags: bags.replace(labels=None), "no labels"),
    ],
    ids=["shape", "text labels", "unknown classes", "no labels"],
)
def test_split_source_rejects_incompatible_test_bags(tmp_path, change, message):
    save_bags(change(load_dataset("needles", n_bags=8)), tmp_path / "other")
    with pytest.raises(InputError, match=message):
        split("needles", test=str(tmp_path / "other"))


def test_split_source_rejects_test_bags_of_another_extractor(tmp_path):
    for name in ("one", "two"):
        save_bags(load_dataset("needles", n_bags=8).replace(extractor=name), tmp_path / name)
    with pytest.raises(InputError, match="features of 'two', but the training bags have features of 'one'"):
        split(tmp_path / "one", test=str(tmp_path / "two"))


def test_check_disjoint_groups_compares_numbers_and_strings_as_text():
    """The groups of a finished run are read from a csv file, where every number is a string."""
    check_disjoint_groups(["7", "8"], np.array([9]), "needles")
    with pytest.raises(InputError, match="also have training bags: 7;"):
        check_disjoint_groups(["7", "8"], np.array([7, 9]), "needles")
