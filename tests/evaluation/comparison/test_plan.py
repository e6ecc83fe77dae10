import numpy as np
import pytest

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.meta.adjusted import Adjusted
from bagwise.estimators.meta.ensemble import Ensemble
from bagwise.estimators.meta.selected import Selected
from bagwise.evaluation.comparison.plan import build_estimator, make_plan, open_comparison_data

NAIVE = {"naive": {}}
NEEDLES = {"n_bags": 30}
DIGITS = {"n_bags": 20, "n_test_bags": 8}


@pytest.fixture
def split_file(tmp_path):
    """A file for six needles that names the third and fourth as test bags."""
    names = load_dataset("needles", n_bags=6).names
    path = tmp_path / "splits.csv"
    path.write_text(f",train,val,test\n0,{names[4]},{names[0]},{names[2]}\n1,{names[1]},,{names[3]}\n")
    return str(path)


def test_make_plan_resolves_method_names():
    plan = make_plan("needles", {"mi_graph": {"C": 2.0}, "MI-kernel": {}}, selection={"MI-kernel": {"C": [1.0]}})
    assert list(plan.methods) == ["mi-Graph", "MI-Kernel"]
    assert list(plan.selection) == ["MI-Kernel"]


@pytest.mark.parametrize(
    ("methods", "arguments", "message"),
    [
        ({}, {}, "name at least one"),
        ({"mi-graph": {"c": 2.0}}, {}, "'c'"),
        ({"mi-graph": {}}, {"selection": {"MI-Kernel": {"C": [1.0]}}}, "MI-Kernel, which is not compared"),
        ({"MI-Kernel": {}}, {"selection": {"MI-Kernel": {"D": [1]}}}, "'D'"),
        ({"MI-Kernel": {"random_state": 3}}, {}, "MI-Kernel: random_state cannot be set.*--seed"),
        (NAIVE, {"seed": -1}, "seed"),
        (NAIVE, {"adjust": ["cold"]}, "adjust: cold is unknown"),
    ],
)
def test_make_plan_rejects_wrong_arguments_by_name(methods, arguments, message):
    with pytest.raises(InputError, match=message):
        make_plan("needles", methods, **arguments)


@pytest.mark.parametrize(
    "protocols", [{"folds": 3, "hold_out": 0.2}, {"folds": 3, "splits": ["a.csv"]}, {"hold_out": 0.2, "splits": ["a"]}]
)
def test_make_plan_rejects_two_protocols(protocols):
    with pytest.raises(InputError, match="give one of them"):
        make_plan("needles", NAIVE, **protocols)


def test_make_plan_rejects_repeats_of_split_files():
    with pytest.raises(InputError, match="leave --repeats out"):
        make_plan("needles", NAIVE, splits=["a.csv"], repeats=2)


@pytest.mark.parametrize(
    ("data", "options", "protocol", "n_folds"),
    [
        ("needles", NEEDLES, {}, 10),
        ("needles", NEEDLES, {"folds": 3}, 3),
        ("needles", NEEDLES, {"hold_out": 0.2}, 1),
        ("digits", DIGITS, {}, 1),
        ("digits", DIGITS, {"folds": 4}, 4),
    ],
)
def test_n_folds_is_the_number_of_splits_per_repeat(data, options, protocol, n_folds):
    plan = make_plan(data, NAIVE, options=options, repeats=2, **protocol)
    splits = open_comparison_data(plan).splits
    assert plan.n_folds == n_folds
    assert [(split.repeat, split.fold) for split in splits] == [(r, f) for r in range(2) for f in range(n_folds)]


def test_n_folds_counts_split_files(split_file):
    plan = make_plan("needles", NAIVE, options={"n_bags": 6}, splits=[split_file, split_file])
    assert plan.n_folds == len(open_comparison_data(plan).splits) == 2


def test_build_estimator_sets_parameters_and_selects_from_grids():
    plan = make_plan("needles", {"mi_graph": {"C": 2.0}, "MI-kernel": {}}, selection={"MI-kernel": {"C": [1.0]}})
    assert build_estimator(plan, "mi-Graph").C == 2.0
    assert isinstance(build_estimator(plan, "MI-Kernel"), Selected)


def test_build_estimator_wraps_every_method_in_adjustments_and_ensembles():
    adjusted = build_estimator(make_plan("needles", NAIVE, adjust=["threshold"]), "naive")
    assert isinstance(adjusted, Adjusted)
    assert (adjusted.calibration, adjusted.threshold) == (False, True)
    plan = make_plan("needles", NAIVE, ensemble=3, adjust=["calibration"])
    assert isinstance(build_estimator(plan, "naive").estimator, Ensemble)
    assert build_estimator(plan, "naive").estimator.n == 3


@pytest.mark.parametrize(
    ("data", "options", "protocol", "sizes"),
    [
        ("needles", NEEDLES, {"folds": 3, "repeats": 2}, [(20, 10)] * 6),
        ("needles", NEEDLES, {"hold_out": 0.2, "repeats": 2}, [(24, 6)] * 2),
        ("digits", DIGITS, {"repeats": 2}, [(20, 8)] * 2),
        ("digits", DIGITS, {"folds": 4}, [(15, 5)] * 4),
    ],
    ids=["folds", "hold-out", "own test bags", "folds instead of own test bags"],
)
def test_open_comparison_data_splits_by_the_protocol(data, options, protocol, sizes):
    opened = open_comparison_data(make_plan(data, NAIVE, options=options, **protocol))
    assert [(len(split.training), len(split.test)) for split in opened.splits] == sizes


def test_open_comparison_data_reads_split_files(split_file):
    opened = open_comparison_data(make_plan("needles", NAIVE, options={"n_bags": 6}, splits=[split_file]))
    assert [(split.fold, split.test.tolist()) for split in opened.splits] == [(0, [2, 3])]


def test_open_comparison_data_keeps_groups_together(tmp_path):
    bags = load_dataset("needles", n_bags=40).replace(groups=np.arange(40) // 4)
    save_bags(bags, tmp_path / "bags")
    for split in open_comparison_data(make_plan(str(tmp_path / "bags"), NAIVE, folds=5)).splits:
        assert not set(bags.groups[split.training]) & set(bags.groups[split.test])


def test_open_comparison_data_rejects_a_class_in_a_single_group(tmp_path):
    labels = np.array(["a", "b", "c"] * 10)
    groups = np.where(labels == "c", 0, 1 + np.arange(30))
    save_bags(load_dataset("needles", n_bags=30).replace(labels=labels, groups=groups), tmp_path / "bags")
    with pytest.raises(InputError, match="no training bag of class 'c'"):
        open_comparison_data(make_plan(str(tmp_path / "bags"), {"MI-Kernel": {}}, folds=3))
