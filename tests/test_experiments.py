"""What is committed under experiments/ is what the units of the runs say."""

import csv
import zipfile

import pytest

from bagwise.paper.fits import fit_rows
from bagwise.paper.recipes import RECIPES
from bagwise.paper.recipes.protocols import under_all
from bagwise.paper.results import read_results, result_rows
from documented import ROOT

ARCHIVES = sorted(ROOT.glob("experiments/*/units.zip"))


def written(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def as_text(row):
    return {name: "" if value is None else str(value) for name, value in row.items()}


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.parent.name)
def test_committed_numbers_are_made_from_the_units(archive, tmp_path):
    name = archive.parent.name
    with zipfile.ZipFile(archive) as units:
        units.extractall(tmp_path)
    settings = under_all(RECIPES[name].settings(1, False))
    committed = written(archive.parent / "results.csv")
    for row in result_rows(read_results(tmp_path / name, RECIPES[name], settings)):
        key = {part: row[part] for part in ("table", "method", "column")}
        found = [each for each in committed if key.items() <= each.items()]
        assert len(found) == 1, key
        if int(found[0]["n_fits"]) == row["n_fits"]:
            assert found[0] == as_text(row)
        else:
            assert int(found[0]["n_fits"]) > row["n_fits"], "only more fits may stand for fewer"
    fits = written(archive.parent / "fits.csv")
    assert all(as_text(row) in fits for row in fit_rows(tmp_path / name, settings))
