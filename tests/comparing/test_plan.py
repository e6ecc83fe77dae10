import numpy as np
import pytest

from bagwise.comparing.plan import build, make_plan, open_material
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import Adjusted, Ensemble, Selected
from bagwise.storage import save_bags


def test_methods_go_by_their_full_names_and_wrong_parameters_are_refused_at_once():
    plan = make_plan("needles", {"mi_graph": {"C": 2.0}, "MI-kernel": {}}, selection={"MI-kernel": {"C": [1.0]}})
    assert list(plan.methods) == ["mi-Graph", "MI-Kernel"]
    assert build(plan, "mi-Graph").C == 2.0
    assert isinstance(build(plan, "MI-Kernel"), Selected)
    with pytest.raises(InputError, match="has no parameter 'c'"):
        make_plan("needles", {"mi-graph": {"c": 2.0}})
    with pytest.raises(InputError, match="name at least one"):
        make_plan("needles", {})
    with pytest.raises(InputError, match="MI-Kernel, which is not compared"):
        make_plan("needles", {"mi-graph": {}}, selection={"MI-Kernel": {"C": [1.0]}})


def test_data_without_test_bags_are_folded_and_those_with_keep_them():
    folded = open_material(make_plan("needles", {"naive": {}}, options={"n_bags": 30}, folds=3, repeats=2))
    assert [(len(split.training), len(split.test)) for split in folded.splits] == [(20, 10)] * 6
    held = open_material(make_plan("needles", {"naive": {}}, options={"n_bags": 30}, hold_out=0.2, repeats=2))
    assert [len(split.test) for split in held.splits] == [6, 6]
    options = {"n_bags": 20, "n_test_bags": 8}
    own = open_material(make_plan("digits", {"naive": {}}, options=options, repeats=2))
    assert [(split.repeat, len(split.training), len(split.test)) for split in own.splits] == [(0, 20, 8), (1, 20, 8)]


def test_groups_are_kept_together_by_default(tmp_path):
    bags = load_dataset("needles", n_bags=40).replace(groups=np.arange(40) // 4)
    save_bags(bags, tmp_path / "bags")
    material = open_material(make_plan(str(tmp_path / "bags"), {"naive": {}}, folds=5))
    for split in material.splits:
        assert not set(bags.groups[split.training]) & set(bags.groups[split.test])


def test_adjustments_wrap_every_method_and_splits_may_come_from_files(tmp_path):
    plan = make_plan("needles", {"naive": {}}, options={"n_bags": 6}, adjust=["threshold"])
    adjusted = build(plan, "naive")
    assert isinstance(adjusted, Adjusted)
    assert (adjusted.temperature, adjusted.threshold) == (False, True)
    with pytest.raises(InputError, match="adjust: cold is unknown"):
        make_plan("needles", {"naive": {}}, adjust=["cold"])
    names = load_dataset("needles", n_bags=6).names
    path = tmp_path / "splits.csv"
    path.write_text(f",train,val,test\n0,{names[4]},{names[0]},{names[2]}\n1,{names[1]},,{names[3]}\n")
    material = open_material(make_plan("needles", {"naive": {}}, options={"n_bags": 6}, splits=[str(path)]))
    assert [(split.fold, split.test.tolist()) for split in material.splits] == [(0, [2, 3])]


def test_one_protocol_at_a_time():
    for words in ({"folds": 3, "hold_out": 0.2}, {"folds": 3, "splits": ["a.csv"]}, {"hold_out": 0.2, "splits": ["a"]}):
        with pytest.raises(InputError, match="give one of them"):
            make_plan("needles", {"naive": {}}, **words)
    with pytest.raises(InputError, match="leave repeats out"):
        make_plan("needles", {"naive": {}}, splits=["a.csv"], repeats=2)


def test_folds_win_over_the_test_bags_of_a_data_set():
    options = {"n_bags": 20, "n_test_bags": 8}
    folded = open_material(make_plan("digits", {"naive": {}}, options=options, folds=4))
    assert [(len(split.training), len(split.test)) for split in folded.splits] == [(15, 5)] * 4


def test_seeds_and_grids_are_checked_at_once():
    with pytest.raises(InputError, match="seed is -1"):
        make_plan("needles", {"naive": {}}, seed=-1)
    with pytest.raises(InputError, match="use seed"):
        make_plan("needles", {"MI-Kernel": {"random_state": 3}})
    with pytest.raises(InputError, match="has no parameter 'D'"):
        make_plan("needles", {"MI-Kernel": {}}, selection={"MI-Kernel": {"D": [1]}})


def test_a_class_in_one_group_is_refused_before_anything_is_fitted(tmp_path):
    bags = load_dataset("needles", n_bags=30)
    labels = np.array(["a", "b", "c"] * 10)
    groups = np.where(labels == "c", 0, 1 + np.arange(30))
    save_bags(bags.replace(labels=labels, groups=groups), tmp_path / "bags")
    with pytest.raises(InputError, match="no training bag of class 'c'"):
        open_material(make_plan(str(tmp_path / "bags"), {"MI-Kernel": {}}, folds=3))


def test_ensembles_wrap_every_method():
    plan = make_plan("needles", {"naive": {}}, ensemble=3, adjust=["temperature"])
    assert isinstance(build(plan, "naive").estimator, Ensemble)
    assert build(plan, "naive").estimator.n == 3
