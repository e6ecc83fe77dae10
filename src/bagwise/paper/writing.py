"""The files of an experiment that are made from its units, and made again at will."""

from collections.abc import Sequence
from pathlib import Path

from bagwise.files import atomic
from bagwise.paper.recipes import Recipe
from bagwise.paper.results import Result, result_rows
from bagwise.paper.tables import markdown
from bagwise.runs import write_table


def write_results(place: Path, recipe: Recipe, results: Sequence[Result]) -> Path:
    """Write results.csv and results.md, and say where the page is."""
    write_table(place / "results.csv", result_rows(results))
    page = place / "results.md"
    with atomic(page) as draft:
        draft.write_text(markdown(recipe, results), encoding="utf-8")
    return page
