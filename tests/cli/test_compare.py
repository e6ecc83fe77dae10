import csv
import json
import shlex

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
        assert {row["method"] for row in csv.DictReader(stream)} == {"extra trees", "attention", "majority"}
    again = bagwise("compare", "needles", *methods, *QUICK, "--out", "both", "--json", cwd=tmp_path)
    assert len([row for row in json.loads(again.stdout)["scores"] if row["of"] == "bags"]) == 3 * 10
    assert bagwise("check", "both", cwd=tmp_path).returncode == 0


def test_compare_prints_a_sorted_table_of_80_columns_a_conclusion_and_a_train_command(tmp_path):
    """The printed command can be pasted, and trains the best method with the same options of the data."""
    methods = ("--methods", "minimax-kernel,bagwise-ensemble,naive", "--out", "c")
    found = bagwise("compare", "needles", *methods, *QUICK, "--metric", "accuracy", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    lines = found.stdout.splitlines()
    *_, conclusion, command = lines
    table = [line for line in lines if line.startswith("  ")]
    assert all(len(line) <= 80 for line in table)
    assert any(line.split()[-5:-4] and line.strip().startswith("majority") for line in table)
    assert " has the highest accuracy, 0." in conclusion or conclusion.startswith("No method beats the majority")
    assert command.startswith("next: bagwise train needles runs/")
    assert "--data-option n_bags=20" in command
    again = bagwise("compare", "needles", *methods, *QUICK, "--metric", "accuracy", "--json", cwd=tmp_path)
    result = json.loads(again.stdout)
    assert (result["metric"], result["conclusion"]) == ("accuracy", conclusion)
    assert command == f"next: {result['train_command']}"
    means = [ranked["mean"] for ranked in result["ranking"]]
    assert means == sorted(means, reverse=True)
    assert [line.split("  ")[1].split(" ")[0] for line in table if "majority" in line]


def test_compare_without_baselines_leaves_out_the_majority(tmp_path):
    result = bagwise("compare", "needles", "--methods", "naive", "--no-baselines", *QUICK, "--json", cwd=tmp_path)
    content = json.loads(result.stdout)
    assert [ranked["method"] for ranked in content["ranking"]] == ["naive"]
    command = shlex.split(content["train_command"])
    trained = bagwise(*command[1:], cwd=tmp_path)
    assert trained.returncode == 0, trained.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "atention"], "did you mean 'attention'"),
        (["--methods", "Mi-SVM"], "write mi-SVM or MI-SVM"),
        (["--methods", ","], "--methods is empty"),
        (["--methods", "naive", "--epochs", "3"], "training flags apply to networks"),
        (["--methods", "naive", "--metric", "acuracy"], "did you mean 'accuracy'"),
        (["--methods", "naive", "--folds", "1"], "folds is 1"),
        (["--methods", "naive", "--folds", "500"], "too few for 500 folds"),
        (["--methods", "naive", "--hold-out", "1.5"], "it must be a number above 0 and below 1"),
    ],
    ids=str,
)
def test_compare_rejects_wrong_arguments_and_writes_nothing(tmp_path, arguments, message):
    assert message in run_rejected("compare", "needles", *arguments, "--out", "one", cwd=tmp_path)
    assert not (tmp_path / "one").exists()
