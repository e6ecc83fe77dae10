"""The files of an experiment that are made from its units, and made again at will."""

from collections.abc import Sequence
from pathlib import Path

from bagwise.files import atomic
from bagwise.paper.fits import fit_rows
from bagwise.paper.page import write_page
from bagwise.paper.recipes import Recipe, Setting
from bagwise.paper.recipes.protocols import under_all
from bagwise.paper.results import Result, read_results, result_rows
from bagwise.paper.tables import markdown
from bagwise.runs import write_table

RESULTS, FITS, TEXT = "results.csv", "fits.csv", "results.md"


def write_results(place: Path, recipe: Recipe, settings: Sequence[Setting]) -> list[Result]:
    """Write the numbers beside the paper's (csv, markdown, HTML) and a line for every fit (csv), of every protocol."""
    settings = under_all(settings)
    results = read_results(place, recipe, settings)
    write_table(place / RESULTS, result_rows(results))
    write_table(place / FITS, fit_rows(place, settings))
    with atomic(place / TEXT) as draft:
        draft.write_text(markdown(recipe, results), encoding="utf-8")
    write_page(place, recipe, results)
    return results
