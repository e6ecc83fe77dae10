"""The results of an experiment as one HTML page that stands alone: each table of the paper with its picture."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from matplotlib.figure import Figure

from bagwise import figures
from bagwise.files import atomic
from bagwise.metric_names import METRICS
from bagwise.paper.recipes import Recipe
from bagwise.paper.results import KEYS, Result
from bagwise.paper.tables import Table, legend, signed, tables
from bagwise.report.templating import fill_template

PAGE = "results.html"
TITLE_WIDTH = 14  # letters
INCH = 7.2  # in em: letters of pictures are then as large as those of the page, however many columns there are
LINES = "Thick lines with dots: ours, with bars of one error where it is known"
THIN_LINES = "thin lines of the same kind: the paper's"
DOTS = "Blue dots: ours, with a bar of one error on both sides"
DIAMONDS = "orange diamonds: the paper's"


class Picture(NamedTuple):
    """An inline SVG, and what it shows."""

    svg: Markup
    words: str
    width: float  # in em


def write_page(place: Path, recipe: Recipe, results: Sequence[Result]) -> Path:
    """Write the page, and say where."""
    found = tables(results)
    page = fill_template(
        "reproduction.html.j2",
        title=recipe.title,
        legend=legend(recipe).replace("**bold**", "bold"),
        signed=signed,
        tables=[(table, _picture(table, recipe)) for table in found],
    )
    with atomic(place / PAGE) as draft:
        draft.write_text(page, encoding="utf-8")
    return place / PAGE


def _picture(table: Table, recipe: Recipe) -> Picture:
    """Lines where the columns are numbers, as the paper draws them, else dots for each column."""
    numbers = all(column.isdigit() for column in table.columns)
    with figures.styled():
        figure = lines(table, recipe) if numbers else dots(table)
        ours, theirs = (LINES, THIN_LINES) if numbers else (DOTS, DIAMONDS)
        words = f"{ours}; {theirs}." if any(result.paper for result in table.cells.values()) else f"{ours}."
        name = "picture-" + "".join(letter if letter.isalnum() else "-" for letter in table.name)
        svg = figures.svg_text(figure, name, table.name, words)
        return Picture(Markup(svg), words, INCH * figure.get_figwidth())


def lines(table: Table, recipe: Recipe) -> Figure:
    """A line for each method along the numbers of the columns."""
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.subplots()
    values = {
        method: (
            [_value(table.cells.get((method, column))) for column in table.columns],
            [_paper(table.cells.get((method, column))) for column in table.columns],
        )
        for method in table.methods
    }
    figures.draw_lines_beside(axes, [float(column) for column in table.columns], values)
    of_instances = next((words for words in KEYS if table.name.endswith(words)), None)
    axes.set(xlabel=recipe.along, ylabel=of_instances or METRICS[recipe.metric][0])
    return figure


def dots(table: Table) -> Figure:
    """A column of dots for each metric; every method has its row in all of them, also where it has no number."""
    columns = len(table.columns)
    figure = Figure(figsize=(1.3 + 1.7 * columns, 0.9 + 0.3 * len(table.methods)), layout="constrained")
    for axes, column in zip(figure.subplots(1, columns, sharey=True, squeeze=False)[0], table.columns, strict=True):
        found = {method: table.cells.get((method, column)) for method in table.methods}
        pairs = {method: (_value(result), _paper(result)) for method, result in found.items()}
        figures.draw_dots_beside(axes, pairs, ("ours", "the paper's"))
        axes.set_title(textwrap.fill(column.replace("_", " "), TITLE_WIDTH))
    return figure


def _value(result: Result | None) -> tuple[float, float | None] | None:
    return None if result is None else (result.mean, result.error)


def _paper(result: Result | None) -> tuple[float, float | None] | None:
    return None if result is None or result.paper is None else (result.paper.mean, result.paper.error)
