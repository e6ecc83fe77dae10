import shutil

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bagwise.comparing import Comparison, compare
from bagwise.comparing.plan import make_plan
from bagwise.paper.published import Published
from bagwise.paper.recipes import Recipe, Setting
from bagwise.paper.results import Result, read_results, result_rows

OPTIONS = {"n_bags": 24}
RECIPE = Recipe("a title", "accuracy", False, lambda repeats, quick: [])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("experiment")
    plan = make_plan("needles", {"MI-Kernel": {}, "naive": {}}, options=OPTIONS, folds=3, repeats=2)
    compare(place / "musk1" / "draw-0", plan)
    for draw in range(2):
        plan = make_plan("needles", {"MI-Kernel": {}}, options={**OPTIONS, "seed": draw}, hold_out=0.5)
        compare(place / "drawn" / f"draw-{draw}", plan)
    return place


def of_bags(place, recipe, setting):
    return [result for result in read_results(place, recipe, [setting]) if ": instances" not in result.table]


def test_folds_are_averaged_and_both_errors_given(place):
    found = {r.method: r for r in of_bags(place, RECIPE, Setting("musk1", "table1", "musk1", []))}
    assert set(found) == {"MI-Kernel", "naive"}
    kernel = found["MI-Kernel"]
    assert kernel.paper == Published(0.880, 0.031)
    assert found["naive"].paper is None
    assert (kernel.n_repeats, kernel.n_fits) == (2, 6)
    assert kernel.error == kernel.fold_error
    assert kernel.repeat_error is not None


def test_draws_are_repeats(place):
    (result,) = of_bags(place, RECIPE, Setting("drawn", "table1", "musk1", []))
    assert (result.n_repeats, result.n_fits, result.fold_error) == (2, 2, None)
    assert result.error == result.repeat_error


def test_metrics_can_be_the_columns_pooled_with_the_means_over_folds_beside(place):
    recipe = RECIPE._replace(pooled=True)
    results = of_bags(place, recipe, Setting("musk1", "breast", None, []))
    found = {(r.table, r.method, r.column): r for r in results}
    assert set(found) == {
        (table, method, column)
        for table in ("breast", "breast: means over folds")
        for method in ("MI-Kernel", "naive")
        for column in ("accuracy", "precision", "recall", "f_score", "auc")
    }
    units = Comparison(place / "musk1" / "draw-0").units["naive"]
    together = [
        roc_auc_score(
            np.concatenate([unit["predictions"]["bags"]["targets"] for unit in own]),
            np.concatenate([np.array(unit["predictions"]["bags"]["probabilities"])[:, 1] for unit in own]),
        )
        for repeat in range(2)
        if (own := [unit for unit in units if unit["repeat"] == repeat])
    ]
    assert found["breast", "naive", "auc"].mean == pytest.approx(np.mean(together))
    apart = np.mean([unit["metrics"]["bags"]["auc"] for unit in units])
    assert found["breast: means over folds", "naive", "auc"].mean == pytest.approx(apart)


@pytest.mark.parametrize(("table", "column"), [("table1", "musk1"), ("breast", None)])
def test_key_instances_have_tables_of_their_own_without_the_papers_numbers(place, table, column):
    setting = Setting("musk1", table, column, [])
    results = [result for result in read_results(place, RECIPE, [setting]) if ": instances" in result.table]
    assert {result.method for result in results} == {"MI-Kernel", "naive"}
    assert all(result.paper is None for result in results)
    units = Comparison(place / "musk1" / "draw-0").units["naive"]
    expected = np.mean([unit["metrics"]["weights"]["top_1"] for unit in units])
    (found,) = [r for r in results if r.method == "naive" and "top-1 of the weights" in f"{r.table} {r.column}"]
    assert found.mean == pytest.approx(expected)


def test_folds_that_keep_cases_together_are_a_table_of_their_own(place):
    setting = Setting("musk1", "breast", None, [], title="by case", comparable=False)
    results = read_results(place, RECIPE, [setting])
    assert {result.table for result in results} == {"breast: by case", "breast: by case: instances"}
    assert all(result.paper is None for result in results)


def test_another_protocol_is_a_table_of_its_own_beside_the_papers_numbers(place):
    setting = Setting("musk1", "table1", "musk1", [], title="by validation")
    (found,) = [result for result in of_bags(place, RECIPE, setting) if result.method == "MI-Kernel"]
    assert found.table == "table1: by validation"
    assert found.paper == Published(0.880, 0.031)


def test_a_repeat_that_is_under_way_is_shown_as_a_part_and_claims_nothing(place, tmp_path):
    shutil.copytree(place / "musk1", tmp_path / "musk1")
    draw = tmp_path / "musk1" / "draw-0"
    (draw / "units" / "MI-Kernel" / "001-002.json").unlink()
    (draw / "manifest.json").unlink()  # which is written when all is done
    found = {result.method: result for result in of_bags(tmp_path, RECIPE, Setting("musk1", "table1", "musk1", []))}
    assert (found["MI-Kernel"].complete, found["naive"].complete) == (False, True)
    assert found["MI-Kernel"].meets is None


def test_what_is_not_run_has_no_number(place):
    assert read_results(place, RECIPE, [Setting("tiger", "table1", "tiger", [])]) == []


@pytest.mark.parametrize(("mean", "meets"), [(0.80, False), (0.86, True), (0.95, False)])
def test_intervals_meet_or_not(mean, meets):
    result = Result("table1", "attention", "musk1", Published(0.88, 0.03), mean, 0.01, 0.02, 5, 50)
    assert result.meets is meets
    assert result.difference == pytest.approx(mean - 0.88)
    (row,) = result_rows([result])
    assert (row["paper"], row["ours"], row["intervals_meet"]) == (0.88, mean, meets)
    assert result._replace(paper=None).meets is None
    assert np.isclose(row["difference"], mean - 0.88)
