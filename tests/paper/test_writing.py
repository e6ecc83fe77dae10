import csv

from bagwise.comparing import compare
from bagwise.comparing.plan import make_plan
from bagwise.paper.recipes import Recipe, Setting
from bagwise.paper.writing import write_results

PLAN = make_plan("needles", {"naive": {}}, options={"n_bags": 20}, folds=2)
SETTINGS = [Setting("one", "table1", "musk1", [PLAN])]
RECIPE = Recipe("Needles", "accuracy", False, lambda repeats, quick: SETTINGS)


def rows(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


def test_numbers_pages_and_every_fit_are_written(tmp_path):
    comparison = compare(tmp_path / "one" / "draw-0", PLAN)
    result = write_results(tmp_path, RECIPE, SETTINGS)[0]
    assert f"| naive | {result.mean:.3f}±{result.fold_error:.3f} |" in (tmp_path / "results.md").read_text()
    assert (tmp_path / "results.html").read_text().startswith("<!doctype html>")
    row = rows(tmp_path / "results.csv")[0]
    assert (row["method"], row["n_fits"], float(row["ours"])) == ("naive", "2", result.mean)
    fits = rows(tmp_path / "fits.csv")
    assert [(fit["setting"], fit["method"], fit["fold"]) for fit in fits] == [
        ("one", "naive", "0"),
        ("one", "naive", "1"),
    ]
    expected = [unit["metrics"]["bags"]["accuracy"] for unit in comparison.units["naive"]]
    assert [float(fit["accuracy"]) for fit in fits] == expected
    assert all(float(fit["fit_seconds"]) > 0 for fit in fits)
