import shutil

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bagwise.evaluation.comparison.comparison_folder import Comparison
from bagwise.evaluation.comparison.plan import make_plan
from bagwise.evaluation.comparison.runner import compare_methods
from bagwise.paper.experiments import Recipe, Setting
from bagwise.paper.published import Published
from bagwise.paper.results import (
    EXCESS,
    INSTANCE_METRICS,
    SECONDS,
    Result,
    collect_means,
    count_bags,
    find_instance_metric,
    list_draws,
    make_result_rows,
    read_results,
)
from bagwise.targets import compute_excess_calibration_error

OPTIONS = {"n_bags": 24}
RECIPE = Recipe(title="a title", metric="accuracy", pooled=False, settings=lambda repeats, quick: [])
MUSK1 = Setting(name="musk1", table="table1", column="musk1", plans=[])
BREAST = Setting(name="musk1", table="breast", column=None, plans=[])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiment")
    plan = make_plan("needles", {"MI-Kernel": {}, "naive": {}}, options=OPTIONS, folds=3, repeats=2)
    compare_methods(folder / "musk1" / "draw-0", plan)
    for draw in range(2):
        plan = make_plan("needles", {"MI-Kernel": {}}, options={**OPTIONS, "seed": draw}, hold_out=0.5)
        compare_methods(folder / "draws" / f"draw-{draw}", plan)
    return folder


def read_bag_results(folder, recipe, setting):
    return [result for result in read_results(folder, recipe, [setting]) if ": instances" not in result.table]


def test_list_draws_sorts_by_number(tmp_path):
    for number in (10, 2, 0):
        (tmp_path / f"draw-{number}").mkdir()
    assert [path.name for path in list_draws(tmp_path)] == ["draw-0", "draw-2", "draw-10"]


def test_read_results_averages_folds_and_has_both_errors(folder):
    results = {result.method: result for result in read_bag_results(folder, RECIPE, MUSK1)}
    assert set(results) == {"MI-Kernel", "naive"}
    kernel = results["MI-Kernel"]
    assert kernel.paper == Published(0.880, 0.031)
    assert results["naive"].paper is None
    assert (kernel.n_repeats, kernel.n_fits) == (2, 6)
    assert kernel.error == kernel.fold_error
    assert kernel.repeat_error is not None


def test_read_results_treats_draws_as_repeats(folder):
    (result,) = read_bag_results(folder, RECIPE, MUSK1._replace(name="draws"))
    assert (result.n_repeats, result.n_fits, result.fold_error) == (2, 2, None)
    assert result.error == result.repeat_error


def test_read_results_pools_metrics_and_adds_means_over_folds(folder):
    results = {
        (result.table, result.method, result.column): result
        for result in read_bag_results(folder, RECIPE._replace(pooled=True), BREAST)
    }
    assert set(results) == {
        (table, method, column)
        for table in ("breast", "breast: means over folds")
        for method in ("MI-Kernel", "naive")
        for column in ("accuracy", "precision", "recall", "f_score", "auc")
    }
    units = Comparison(folder / "musk1" / "draw-0").units["naive"]
    pooled = [
        roc_auc_score(
            np.concatenate([found["targets"] for found in predictions]),
            np.concatenate([np.array(found["probabilities"])[:, 1] for found in predictions]),
        )
        for repeat in range(2)
        if (predictions := [unit["predictions"]["bags"] for unit in units if unit["repeat"] == repeat])
    ]
    assert results["breast", "naive", "auc"].mean == pytest.approx(np.mean(pooled))
    fold_mean = np.mean([unit["metrics"]["bags"]["auc"] for unit in units])
    assert results["breast: means over folds", "naive", "auc"].mean == pytest.approx(fold_mean)


@pytest.mark.parametrize("setting", [MUSK1, BREAST], ids=["columns are data", "columns are metrics"])
def test_read_results_has_separate_tables_of_key_instances(folder, setting):
    results = [result for result in read_results(folder, RECIPE, [setting]) if ": instances" in result.table]
    assert {result.method for result in results} == {"MI-Kernel", "naive"}
    assert all(result.paper is None for result in results)
    units = Comparison(folder / "musk1" / "draw-0").units["naive"]
    expected = np.mean([unit["metrics"]["weights"]["top_1"] for unit in units])
    (top_1,) = [
        result
        for result in results
        if result.method == "naive" and "top-1 of the weights" in f"{result.table} {result.column}"
    ]
    assert top_1.mean == pytest.approx(expected)


def test_find_instance_metric_finds_the_metric_of_tables_of_instances(folder):
    tables = dict.fromkeys(result.table for result in read_results(folder, RECIPE, [MUSK1]))
    assert [find_instance_metric(table) for table in tables] == [None, *INSTANCE_METRICS]


def test_read_results_of_settings_that_are_not_comparable_lack_the_papers_numbers(folder):
    results = read_results(folder, RECIPE, [BREAST._replace(title="by case", comparable=False)])
    assert {result.table for result in results} == {"breast: by case", "breast: by case: instances"}
    assert all(result.paper is None for result in results)


def test_read_results_of_another_protocol_have_the_papers_numbers(folder):
    results = read_bag_results(folder, RECIPE, MUSK1._replace(title="by validation"))
    (kernel,) = [result for result in results if result.method == "MI-Kernel"]
    assert kernel.table == "table1: by validation"
    assert kernel.paper == Published(0.880, 0.031)


def test_read_results_marks_incomplete_repeats(folder, tmp_path):
    shutil.copytree(folder / "musk1", tmp_path / "musk1")
    draw = tmp_path / "musk1" / "draw-0"
    (draw / "units" / "MI-Kernel" / "001-002.json").unlink()
    (draw / "manifest.json").unlink()  # it is written after the last unit
    results = {result.method: result for result in read_bag_results(tmp_path, RECIPE, MUSK1)}
    assert (results["MI-Kernel"].complete, results["naive"].complete) == (False, True)
    assert results["MI-Kernel"].overlaps is None


def test_read_results_is_empty_for_settings_that_were_not_run(folder):
    assert read_results(folder, RECIPE, [Setting(name="tiger", table="table1", column="tiger", plans=[])]) == []


def test_read_results_of_given_metrics_have_named_rows_and_no_tables_of_instances(folder):
    setting = MUSK1._replace(
        table="needles", column=None, comparable=False, metrics=("auc", EXCESS, SECONDS), rows={"naive": "a row"}
    )
    results = read_results(folder, RECIPE, [setting])
    assert {(result.table, result.method, result.column) for result in results} == {
        ("needles", row, column) for row in ("MI-Kernel", "a row") for column in ("auc", EXCESS, SECONDS)
    }
    found = {result.column: result for result in results if result.method == "a row"}
    units = Comparison(folder / "musk1" / "draw-0").units["naive"]
    assert found[SECONDS].mean == pytest.approx(np.mean([unit["seconds"]["fit"] for unit in units]))
    assert found[SECONDS].fold_error > 0
    repeats = [[unit["predictions"]["bags"] for unit in units if unit["repeat"] == repeat] for repeat in range(2)]
    expected = [
        compute_excess_calibration_error(
            np.concatenate([part["targets"] for part in parts]),
            np.concatenate([part["probabilities"] for part in parts]),
        )
        for parts in repeats
    ]
    assert found[EXCESS].mean == pytest.approx(np.mean(expected))
    assert found[EXCESS].fold_error is None


def test_collect_means_leaves_out_incomplete_results(folder):
    results = read_results(folder, RECIPE, [MUSK1])
    means = collect_means([results[0], results[1]._replace(complete=False)])
    assert means == {"table1": {(results[0].method, "musk1"): results[0].mean}}


def test_count_bags_counts_each_bag_once(folder):
    assert count_bags(folder, [MUSK1]) == {"table1": 24}
    assert count_bags(folder, [MUSK1._replace(on_request=True), MUSK1._replace(name="not run")]) == {}


@pytest.mark.parametrize(("mean", "overlaps"), [(0.80, False), (0.86, True), (0.95, False)])
def test_result_overlaps_compares_intervals_of_one_error(mean, overlaps):
    result = Result(
        table="table1",
        method="attention",
        column="musk1",
        paper=Published(0.88, 0.03),
        mean=mean,
        repeat_error=0.01,
        fold_error=0.02,
        n_repeats=5,
        n_fits=50,
    )
    assert result.overlaps is overlaps
    assert result.difference == pytest.approx(mean - 0.88)
    assert result._replace(paper=None).overlaps is None
    (row,) = make_result_rows([result])
    assert (row["paper"], row["ours"], row["intervals_meet"]) == (0.88, mean, overlaps)
    assert row["difference"] == pytest.approx(mean - 0.88)
