"""The page on the choice of a method shows committed numbers, and what it says follows from them."""

import csv
import importlib.util
import re

import pytest

from documented import ROOT

spec = importlib.util.spec_from_file_location("committed_results", ROOT / "docs" / "hooks" / "committed_results.py")
hook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hook)

PAGE = (ROOT / "docs" / "which-method.md").read_text(encoding="utf-8")
TABLES = hook.SKELETON.findall(PAGE)
SETS = ("musk1", "musk2", "fox", "tiger", "elephant")


def read_numbers(name, table):
    """Return the number of each method and column of a committed table."""
    with (ROOT / "experiments" / name / "results.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["table"] == table]
    return {(row["method"], row["column"]): float(row["ours"]) for row in rows}


def find_best(numbers, column):
    """Return the methods with the highest number of a column."""
    values = {method: value for (method, found), value in numbers.items() if found == column}
    return {method for method, value in values.items() if value == max(values.values())}


@pytest.mark.parametrize(("path", "table", "skeleton"), TABLES, ids=[f"{path}: {table}" for path, table, _ in TABLES])
def test_fill_tables_shows_the_numbers_of_the_committed_page(path, table, skeleton):
    comment = f"<!-- numbers of {path}: {table} -->"
    filled = hook.fill_tables(f"{comment}\n\n{skeleton}", ROOT)
    committed = (ROOT / path).with_suffix(".md").read_text(encoding="utf-8").split(f"## {table}\n")[1].split("\n##")[0]
    rows = {line.split("|")[1].strip(): line for line in committed.splitlines() if line.startswith("| ")}
    assert len(filled.splitlines()) == len(skeleton.splitlines())
    for line in filled.splitlines()[2:]:
        _, method, *cells, _ = (cell.strip() for cell in line.split("|"))
        assert cells
        assert all(re.fullmatch(r"\d\.\d{3}±\d\.\d{3}", cell) for cell in cells)
        assert all(cell in rows[method] for cell in cells), line


def test_fill_tables_fills_every_cell_and_leaves_other_tables_alone():
    text = "| a | b |\n| --- | --- |\n| c | |\n"
    assert hook.fill_tables(text, ROOT) == text
    assert len(TABLES) == 5
    assert re.search(r"\| +\|", hook.fill_tables(PAGE, ROOT)) is None


def test_fill_tables_rejects_a_method_without_a_result():
    comment = "<!-- numbers of experiments/table1/results.csv: table1 -->"
    text = f"{comment}\n\n| method | musk1 |\n| --- | --- |\n| nobody | |\n"
    with pytest.raises(KeyError, match="nobody"):
        hook.fill_tables(text, ROOT)


def test_statements_on_table_1_follow_from_the_committed_numbers():
    numbers = read_numbers("table1", "table1")
    best = {column: find_best(numbers, column) for column in SETS}
    assert [column for column in SETS if "extra trees" in best[column]] == ["musk1", "elephant"], "the best row on two"
    assert not set.intersection(*best.values()), "no row is the best everywhere"
    assert not any("super learner" in methods for methods in best.values())
    below = [numbers[min(best[column]), column] - numbers["super learner", column] for column in SETS]
    assert max(below) < 0.04, "not far below the best"


def test_statements_on_attention_follow_from_the_committed_numbers():
    digits = read_numbers("mnist-bags", "mnist-bags-10")
    gains = [digits["gated attention", count] - digits["embedding+mean", count] for count in ("50", "500")]
    assert gains[0] > 0.1
    assert gains[1] < 0.005
    augmentation = digits["bagwise", "50"] - digits["gated attention", "50"]
    assert augmentation == pytest.approx(gains[0], abs=0.01), "augmentation adds as much"
    colon = read_numbers("colon", "colon")
    assert colon["embedding+mean", "auc"] >= colon["attention", "auc"]
