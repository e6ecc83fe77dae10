"""Merge the results of a run into the committed files of an experiment.

    python experiments/join.py breast reproduction/breast     merges a run into the files of experiments/breast
    python experiments/join.py breast                         writes the same numbers again, after a change of format

A result of the run replaces the committed result, unless the latter is based on more fits. All other results are
unchanged, because the units of earlier runs were not stored. The units of this run are stored in ``units.zip``: a test
computes the results from them again, and ``bagwise reproduce`` can resume from the unpacked folder.
"""

import csv
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bagwise.io import write_atomically, write_csv
from bagwise.paper import (
    FITS,
    FLOORS,
    RECIPES,
    RESULTS,
    TEXT,
    Published,
    Result,
    apply_all_protocols,
    check_floors,
    collect_means,
    count_bags,
    make_fit_rows,
    make_floor_rows,
    make_result_rows,
    read_results,
    render_markdown,
    write_reproduction_page,
)

UNITS = "units.zip"
MOMENT = (1980, 1, 1, 0, 0, 0)  # time of every file in an archive, so that the same units give the same bytes


def main(name: str, place: Path | None) -> None:
    """Write the merged files of an experiment."""
    home, recipe = Path(__file__).parent / name, RECIPES[name]
    home.mkdir(exist_ok=True)
    settings = apply_all_protocols(recipe.settings(1, False))
    order = list(dict.fromkeys(setting.name_row(method) for setting in settings for method in setting.methods))
    results, fits = committed_results(home), rows(home / FITS)
    n_bags = {row["data"]: int(row["n_bags"]) for row in rows(home / FLOORS) if row["n_bags"]}
    if place is not None:
        results = joined(results, read_results(place, recipe, settings), order)
        fits = joined_fits(fits, make_fit_rows(place, settings))
        n_bags |= count_bags(place, settings)
        pack(place, home / UNITS)
    checks = check_floors(recipe.floors, collect_means(results), n_bags)
    if checks:
        write_csv(home / FLOORS, make_floor_rows(checks))
    write_csv(home / RESULTS, make_result_rows(results))
    write_csv(home / FITS, fits)
    with write_atomically(home / TEXT) as draft:
        draft.write_text(render_markdown(recipe, results, checks), encoding="utf-8")
    write_reproduction_page(home, recipe, results)


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a csv file; none if the file does not exist."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def committed_results(home: Path) -> list[Result]:
    """Return the results in results.csv."""

    def number(text: str) -> float | None:
        return float(text) if text else None

    return [
        Result(
            row["table"],
            row["method"],
            row["column"],
            Published(float(row["paper"]), number(row["paper_error"])) if row["paper"] else None,
            float(row["ours"]),
            number(row["standard_error_over_repeats"]),
            number(row["standard_error_over_folds"]),
            int(row["n_repeats"]),
            int(row["n_fits"]),
            row["complete"] == "True",
        )
        for row in rows(home / RESULTS)
    ]


def joined(before: list[Result], found: list[Result], order: list[str]) -> list[Result]:
    """Return one result per table, column and method: that with more fits, or the new one if both have as many."""
    every = {(each.table, each.column, each.method): each for each in before}
    for each in found:
        old = every.get((each.table, each.column, each.method))
        if old is None or old.n_fits <= each.n_fits:
            every[each.table, each.column, each.method] = each
    places = {name: number for number, name in enumerate(dict.fromkeys(table for table, _, _ in every))}
    return sorted(every.values(), key=lambda each: (places[each.table], order.index(each.method)))


def joined_fits(before: list[dict[str, str]], found: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per fit; new fits replace earlier ones."""
    names = ("setting", "draw", "method", "repeat", "fold")
    every = {tuple(str(row[name]) for name in names): dict(row) for row in before}
    every |= {tuple(str(row[name]) for name in names): row for row in found}
    return list(every.values())


def pack(place: Path, target: Path) -> None:
    """Write the plans, environments and units of a run to an archive."""
    with (
        write_atomically(target) as draft,
        zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
    ):
        for path in sorted(place.rglob("*.json")):
            entry = zipfile.ZipInfo(path.relative_to(place.parent).as_posix(), MOMENT)
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None)
