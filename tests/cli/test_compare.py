import csv
import json

import pytest

from command_line import bagwise, run_rejected

QUICK = ("--folds", "2", "--data-option", "n_bags=20")


def test_compare_writes_and_prints_tables_and_page(tmp_path):
    methods = ("--methods", "extra-trees,attention", "--epochs", "1")
    result = bagwise("compare", "needles", *methods, *QUICK, "--out", "both", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for words in ("extra trees", "attention", "±", "both/table.csv", "both/table.tex", "both/comparison.html"):
        assert words in result.stdout
    with (tmp_path / "both" / "table.csv").open() as stream:
        assert {row["method"] for row in csv.DictReader(stream)} == {"extra trees", "attention"}
    again = bagwise("compare", "needles", *methods, *QUICK, "--out", "both", "--json", cwd=tmp_path)
    assert len([row for row in json.loads(again.stdout)["scores"] if row["of"] == "bags"]) == 18
    assert bagwise("check", "both", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "atention"], "did you mean 'attention'"),
        (["--methods", "Mi-SVM"], "write mi-SVM or MI-SVM"),
        (["--methods", ","], "--methods is empty"),
        (["--methods", "naive", "--epochs", "3"], "training flags apply to networks"),
        (["--methods", "naive", "--folds", "1"], "folds is 1"),
        (["--methods", "naive", "--folds", "500"], "too few for 500 folds"),
        (["--methods", "naive", "--hold-out", "1.5"], "it must be a number above 0 and below 1"),
    ],
    ids=str,
)
def test_compare_rejects_wrong_arguments_and_writes_nothing(tmp_path, arguments, message):
    assert message in run_rejected("compare", "needles", *arguments, "--out", "one", cwd=tmp_path)
    assert not (tmp_path / "one").exists()
