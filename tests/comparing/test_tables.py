import pytest

from bagwise.comparing.tables import difference_rows, latex_table, score_rows


def test_rows_hold_every_error_under_its_name(comparison):
    rows = score_rows(comparison)
    assert len([row for row in rows if row["of"] == "bags"]) == 3 * 9
    assert len([row for row in rows if row["of"] == "weights"]) == 3 * 6
    row = next(row for row in rows if (row["method"], row["metric"]) == ("naive", "accuracy"))
    scores = comparison.scores["naive"]["accuracy"]
    assert row["mean"] == scores.errors.mean
    assert row["corrected_error"] == scores.errors.corrected_error
    assert (row["interval_low"], row["interval_high"]) == scores.errors.interval
    assert (row["pooled"], row["n_fits"]) == (scores.pooled, 6)


def test_differences_are_rows_too(comparison):
    row = difference_rows(comparison, "auc")[0]
    assert (row["first"], row["second"], row["n_folds"]) == ("MI-Kernel", "extra trees", 6)
    assert row["interval_low"] <= row["difference"] <= row["interval_high"]


def test_latex_marks_the_best_of_each_column(comparison):
    table = latex_table(comparison, ("accuracy", "log_loss"))
    lines = {line.split(" & ")[0]: line for line in table.splitlines() if " & " in line}
    for place, (metric, choose) in enumerate([("accuracy", max), ("log_loss", min)], start=1):
        means = {name: scores[metric].errors.mean for name, scores in comparison.scores.items()}
        for name, mean in means.items():
            cell = lines[name].split(" & ")[place]
            assert f"{mean:.3f}" in cell
            assert ("mathbf" in cell) == (mean == choose(means.values()))
    assert table.startswith(r"\begin{tabular}{lrr}")


@pytest.mark.parametrize("name", ["50 % & more", "a_b"])
def test_names_are_escaped_for_latex(name):
    from bagwise.comparing.tables import _escaped

    assert _escaped(name) in (r"50 \% \& more", r"a\_b")
