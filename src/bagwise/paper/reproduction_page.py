"""The result files of an experiment: csv, Markdown, and an HTML page with figures."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from matplotlib.figure import Figure

from bagwise.figures import figure_to_svg, plot_paired_dots, plot_paired_lines, use_style
from bagwise.io import write_atomically, write_csv
from bagwise.paper.experiments import Recipe, Setting
from bagwise.paper.floors import check_floors, make_floor_rows
from bagwise.paper.protocols import apply_all_protocols
from bagwise.paper.result_tables import ResultTable, describe_legend, format_difference, make_tables, render_markdown
from bagwise.paper.results import (
    Result,
    collect_means,
    count_bags,
    find_instance_metric,
    make_fit_rows,
    make_result_rows,
    read_results,
)
from bagwise.report import fill_template
from bagwise.targets import CLASS_METRICS

PAGE, RESULTS, FITS, TEXT, FLOORS = "results.html", "results.csv", "fits.csv", "results.md", "floors.csv"

TITLE_WIDTH = 14  # characters
EM_PER_INCH = 7.2  # scales text in figures to the size of the text on the page, for any number of columns

OUR_LINES = "Thick lines with points: our results, with bars of ± one error where it is known"
PAPER_LINES = "thin lines of the same style: the paper's results"
OUR_POINTS = "Blue points: our results, with bars of ± one error"
PAPER_POINTS = "orange diamonds: the paper's results"


class TableFigure(NamedTuple):
    """The figure of a table as inline SVG, with its caption."""

    svg: Markup
    caption: str
    width: float  # in em


def write_results(folder: Path, recipe: Recipe, settings: Sequence[Setting]) -> list[Result]:
    """Write the results of all protocols next to the paper's (csv, Markdown, HTML), floors and one row per fit (csv).

    Parameters
    ----------
    folder : Path
        Folder of the experiment.
    recipe : Recipe
        Recipe of the experiment.
    settings : sequence of Setting
        Settings under the default protocol.

    Returns
    -------
    list of Result
        The results, in the order of the tables.
    """
    settings = apply_all_protocols(settings)
    results = read_results(folder, recipe, settings)
    write_csv(folder / RESULTS, make_result_rows(results))
    write_csv(folder / FITS, make_fit_rows(folder, settings))
    checks = check_floors(recipe.floors, collect_means(results), count_bags(folder, settings) if recipe.floors else {})
    if recipe.floors:
        write_csv(folder / FLOORS, make_floor_rows(checks))
    with write_atomically(folder / TEXT) as temporary:
        temporary.write_text(render_markdown(recipe, results, checks), encoding="utf-8")
    write_reproduction_page(folder, recipe, results)
    return results


def write_reproduction_page(folder: Path, recipe: Recipe, results: Sequence[Result]) -> Path:
    """Write the HTML page of an experiment.

    Parameters
    ----------
    folder : Path
        Folder of the experiment.
    recipe : Recipe
        Recipe of the experiment.
    results : sequence of Result
        Results to show.

    Returns
    -------
    Path
        The written file.
    """
    page = fill_template(
        "reproduction.html.j2",
        title=recipe.title,
        legend=describe_legend(recipe, bold="Bold"),
        format_difference=format_difference,
        tables=[(table, _render_figure(table, recipe)) for table in make_tables(results)],
    )
    with write_atomically(folder / PAGE) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return folder / PAGE


def _render_figure(table: ResultTable, recipe: Recipe) -> TableFigure:
    """Plot lines if the columns are numbers, as in the paper; otherwise, points for each column."""
    numeric = all(column.isdigit() for column in table.columns)
    with use_style():
        figure = plot_table_lines(table, recipe) if numeric else plot_table_points(table)
        ours, papers = (OUR_LINES, PAPER_LINES) if numeric else (OUR_POINTS, PAPER_POINTS)
        caption = f"{ours}; {papers}." if any(result.paper for result in table.cells.values()) else f"{ours}."
        name = "picture-" + "".join(letter if letter.isalnum() else "-" for letter in table.name)
        svg = figure_to_svg(figure, name, table.name, caption)
        return TableFigure(svg=Markup(svg), caption=caption, width=EM_PER_INCH * figure.get_figwidth())


def plot_table_lines(table: ResultTable, recipe: Recipe) -> Figure:
    """Plot one line per method over the columns, which are numbers."""
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.subplots()
    values = {
        method: (
            [_get_ours(table.cells.get((method, column))) for column in table.columns],
            [_get_papers(table.cells.get((method, column))) for column in table.columns],
        )
        for method in table.methods
    }
    plot_paired_lines(axes, [float(column) for column in table.columns], values)
    axes.set(xlabel=recipe.x_label, ylabel=find_instance_metric(table.name) or CLASS_METRICS[recipe.metric].title)
    return figure


def plot_table_points(table: ResultTable) -> Figure:
    """Plot one panel per column; every method has a row in each panel, even if it has no result there."""
    n_columns = len(table.columns)
    figure = Figure(figsize=(1.3 + 1.7 * n_columns, 0.9 + 0.3 * len(table.methods)), layout="constrained")
    panels = figure.subplots(1, n_columns, sharey=True, squeeze=False)[0]
    for axes, column in zip(panels, table.columns, strict=True):
        results = {method: table.cells.get((method, column)) for method in table.methods}
        pairs = {method: (_get_ours(result), _get_papers(result)) for method, result in results.items()}
        plot_paired_dots(axes, pairs, ("ours", "the paper's"))
        axes.set_title(textwrap.fill(column.replace("_", " "), TITLE_WIDTH))
    return figure


def _get_ours(result: Result | None) -> tuple[float, float | None] | None:
    return None if result is None else (result.mean, result.error)


def _get_papers(result: Result | None) -> tuple[float, float | None] | None:
    return None if result is None or result.paper is None else (result.paper.mean, result.paper.error)
