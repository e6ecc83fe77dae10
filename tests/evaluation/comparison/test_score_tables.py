import pytest

from bagwise.bags.bags import Bags
from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.evaluation.comparison.comparison_folder import Comparison
from bagwise.evaluation.comparison.plan import make_plan
from bagwise.evaluation.comparison.runner import compare_methods
from bagwise.evaluation.comparison.score_tables import (
    _escape_latex,
    make_difference_rows,
    make_latex_table,
    make_score_rows,
)


def test_make_score_rows_has_all_errors_of_every_metric(comparison):
    rows = make_score_rows(comparison)
    assert len([row for row in rows if row["of"] == "bags"]) == 3 * 10
    assert len([row for row in rows if row["of"] == "weights"]) == 3 * 6
    row = next(row for row in rows if (row["method"], row["metric"]) == ("naive", "accuracy"))
    scores = comparison.scores["naive"]["accuracy"]
    assert row["mean"] == scores.errors.mean
    assert row["corrected_error"] == scores.errors.corrected_error
    assert (row["interval_low"], row["interval_high"]) == scores.errors.interval
    assert (row["pooled"], row["n_fits"]) == (scores.pooled, 6)


def test_make_difference_rows_has_one_row_per_pair(comparison):
    row = make_difference_rows(comparison, "auc")[0]
    assert (row["first"], row["second"], row["n_folds"]) == ("MI-Kernel", "extra trees", 6)
    assert row["interval_low"] <= row["difference"] <= row["interval_high"]
    assert len(make_difference_rows(comparison, "auc")) == 3


def test_make_latex_table_prints_the_best_mean_in_bold(comparison):
    table = make_latex_table(comparison, ("accuracy", "log_loss"))
    lines = {line.split(" & ")[0]: line for line in table.splitlines() if " & " in line}
    for column, (metric, choose) in enumerate([("accuracy", max), ("log_loss", min)], start=1):
        means = {name: scores[metric].errors.mean for name, scores in comparison.scores.items()}
        for name, mean in means.items():
            cell = lines[name].split(" & ")[column]
            assert f"{mean:.3f}" in cell
            assert ("mathbf" in cell) == (mean == choose(means.values()))
    assert table.startswith(r"\begin{tabular}{lrr}")


@pytest.mark.parametrize(("name", "escaped"), [("50 % & more", r"50 \% \& more"), ("a_b", r"a\_b")])
def test_escape_latex_escapes_special_characters(name, escaped):
    assert _escape_latex(name) == escaped


WARNING = "WARNING, too optimistic: the epoch was chosen on the test bags"


def test_every_table_of_a_comparison_with_peeking_has_a_warning(comparison):
    assert comparison.warnings == []
    peeking = Comparison(comparison.folder)
    peeking.plan = {**comparison.plan, "peeking": True}
    assert peeking.warnings == [WARNING]
    for rows in (make_score_rows(peeking), make_difference_rows(peeking, "auc")):
        assert {row["warning"] for row in rows} == {WARNING}
    assert WARNING in make_latex_table(peeking)
    assert "warning" not in make_score_rows(comparison)[0]
    assert "WARNING" not in make_latex_table(comparison)


def test_a_comparison_warns_of_bags_with_the_same_instances_on_both_sides_of_a_split(tmp_path):
    bags = load_dataset("needles", n_bags=24)
    copies = bags[:2].replace(names=["copy a", "copy b"])
    save_bags(Bags.concatenate([bags, copies]), tmp_path / "bags")
    plan = make_plan(str(tmp_path / "bags"), {"naive": {}}, folds=3)
    found = compare_methods(tmp_path / "comparison", plan)
    (warning,) = found.warnings
    assert "test bags have the same instances as training bags" in warning
    assert {row["warning"] for row in make_score_rows(found)} == {warning}
