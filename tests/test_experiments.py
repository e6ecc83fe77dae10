"""The committed results of experiments/ agree with the committed units, and with the code that writes them."""

import collections
import csv
import zipfile

import pytest

from bagwise.paper.floors import check_floors, make_floor_rows, render_floors
from bagwise.paper.protocols import apply_all_protocols
from bagwise.paper.recipes import RECIPES
from bagwise.paper.result_tables import describe_legend
from bagwise.paper.results import count_bags, make_fit_rows, make_result_rows, read_results
from documented import ROOT

ARCHIVES = sorted(ROOT.glob("experiments/*/units.zip"))


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def to_text(row):
    return {name: "" if value is None else str(value) for name, value in row.items()}


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.parent.name)
def test_committed_results_follow_from_the_units(archive, tmp_path):
    name = archive.parent.name
    with zipfile.ZipFile(archive) as units:
        units.extractall(tmp_path)
    settings = apply_all_protocols(RECIPES[name].settings(1, False))
    committed = read_rows(archive.parent / "results.csv")
    for row in make_result_rows(read_results(tmp_path / name, RECIPES[name], settings)):
        key = {part: row[part] for part in ("table", "method", "column")}
        matching = [found for found in committed if key.items() <= found.items()]
        assert len(matching) == 1, key
        if int(matching[0]["n_fits"]) == row["n_fits"]:
            assert matching[0] == to_text(row)
        else:
            assert int(matching[0]["n_fits"]) > row["n_fits"], "only a number of more fits may replace one of fewer"
    fits = read_rows(archive.parent / "fits.csv")
    assert all(to_text(row) in fits for row in make_fit_rows(tmp_path / name, settings))


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.parent.name)
def test_committed_floors_follow_from_the_results(archive, tmp_path):
    name, home = archive.parent.name, archive.parent
    if not RECIPES[name].floors:
        assert not (home / "floors.csv").exists()
        return
    with zipfile.ZipFile(archive) as units:
        units.extractall(tmp_path)
    means = collections.defaultdict(dict)
    for row in read_rows(home / "results.csv"):
        if row["complete"] == "True":
            means[row["table"]][row["method"], row["column"]] = float(row["ours"])
    n_bags = count_bags(tmp_path / name, RECIPES[name].settings(1, False))
    checks = check_floors(RECIPES[name].floors, means, n_bags)
    assert [to_text(row) for row in make_floor_rows(checks)] == read_rows(home / "floors.csv")
    assert render_floors(checks) in (home / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(path.parent.name for path in ROOT.glob("experiments/*/results.md")))
def test_committed_tables_have_the_current_legend(name):
    page = (ROOT / "experiments" / name / "results.md").read_text(encoding="utf-8")
    assert page.split("\n\n")[1] == describe_legend(RECIPES[name])
