"""The numbers on the page on the choice of a method are those of the committed results."""

import csv
import re

import pytest

from bagwise.paper.result_tables import format_value
from documented import ROOT

PAGE = (ROOT / "docs" / "which-method.md").read_text(encoding="utf-8")
TABLE = re.compile(r"^<!-- numbers of (\S+): (.+) -->\n\n((?:\|.*\n)+)", flags=re.MULTILINE)
TABLES = TABLE.findall(PAGE)


def read_results(path, table):
    with (ROOT / path).open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["table"] == table]
    return {(row["method"], row["column"]): row for row in rows}


def read_number(row):
    error = row["standard_error_over_folds"] or row["standard_error_over_repeats"]
    return format_value(float(row["ours"]), float(error))


def split_cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def find_best(path, table, column):
    """Return the method with the highest number; of equal ones, all."""
    results = {
        method: float(row["ours"]) for (method, found), row in read_results(path, table).items() if found == column
    }
    return {method for method, value in results.items() if value == max(results.values())}


@pytest.mark.parametrize(("path", "table", "text"), TABLES, ids=[f"{path}: {table}" for path, table, _ in TABLES])
def test_tables_of_evidence_are_the_committed_numbers(path, table, text):
    results = read_results(path, table)
    (_, *columns), _, *rows = (split_cells(line) for line in text.splitlines())
    for method, *cells in rows:
        assert cells == [read_number(results[method, column]) for column in columns], method


def test_every_number_with_an_error_is_in_a_table_of_evidence():
    assert len(TABLES) == 5
    assert len(re.findall(r"\d±\d", PAGE)) == sum(len(re.findall(r"\d±\d", text)) for _, _, text in TABLES)


def test_statements_follow_from_the_committed_numbers():
    sets = ("musk1", "musk2", "fox", "tiger", "elephant")
    best = {column: find_best("experiments/table1/results.csv", "table1", column) for column in sets}
    assert {column for column in sets if "extra trees" in best[column]} == {"musk1", "elephant"}, "the best row on two"
    assert not set.intersection(*best.values()), "no row is the best everywhere"
    assert not any("super learner" in methods for methods in best.values())
    digits = read_results("experiments/mnist-bags/results.csv", "mnist-bags-10")
    gains = {
        count: float(digits["gated attention", count]["ours"]) - float(digits["embedding+mean", count]["ours"])
        for count in ("50", "500")
    }
    assert gains["50"] > 0.1
    assert gains["500"] < 0.005
    colon = read_results("experiments/colon/results.csv", "colon")
    assert float(colon["embedding+mean", "auc"]["ours"]) >= float(colon["attention", "auc"]["ours"])
