"""Tables of results, with our numbers next to the paper's, and their Markdown page."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bagwise.paper.experiments import Recipe
from bagwise.paper.floors import FloorCheck, render_floors
from bagwise.paper.results import Result

LEGEND = (
    "Each cell shows our mean ± error / the paper's mean ± error (difference). {bold}: the two intervals of ± one "
    "error do not overlap. (incomplete): some folds have not been run. Our error is the standard error over folds, "
    "averaged over repeats, as the paper's seems to be; where there are no folds, it is the standard error over draws. "
    "results.csv has both errors, and the numbers of repeats and fits behind each mean."
)
LEGEND_POOLED = (
    "Metrics are computed on the predictions of all folds of a repeat together; the means over folds are in separate "
    "tables below."
)


class ResultTable(NamedTuple):
    """The results of one table."""

    name: str
    methods: list[str]
    columns: list[str]
    cells: dict[tuple[str, str], Result]  # by method and column; results that are not available are missing

    def format_repeats(self, column: str) -> str:
        """Return the number of repeats of a column as text, e.g. "5×" or "1–5×"."""
        counts = sorted({result.n_repeats for (_, name), result in self.cells.items() if name == column})
        return f"{counts[0]}×" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}×"


def make_tables(results: Sequence[Result]) -> list[ResultTable]:
    """Group results into tables, in the order of the results."""
    tables: dict[str, list[Result]] = {}
    for result in results:
        tables.setdefault(result.table, []).append(result)
    return [
        ResultTable(
            name=name,
            methods=list(dict.fromkeys(result.method for result in found)),
            columns=_sort_columns(dict.fromkeys(result.column for result in found)),
            cells={(result.method, result.column): result for result in found},
        )
        for name, found in tables.items()
    ]


def _sort_columns(columns: Iterable[str]) -> list[str]:
    """Sort columns that are numbers; leave other columns in their order."""
    names = list(columns)
    return sorted(names, key=int) if all(name.isdigit() for name in names) else names


def describe_legend(recipe: Recipe, bold: str = "**Bold**") -> str:
    """Return the legend of the tables of an experiment."""
    legend = recipe.legend or LEGEND.format(bold=bold)
    return f"{legend} {LEGEND_POOLED}" if recipe.pooled else legend


def render_markdown(recipe: Recipe, results: Sequence[Result], checks: Sequence[FloorCheck] = ()) -> str:
    """Render the results of an experiment as a Markdown page.

    Parameters
    ----------
    recipe : Recipe
        Recipe of the experiment.
    results : sequence of Result
        Results to show.
    checks : sequence of FloorCheck, default=()
        Checks of the recipe's floors, to show above the results.

    Returns
    -------
    str
        The page in Markdown.
    """
    sections = (f"## {table.name}\n\n{_render_table(table)}" for table in make_tables(results))
    floors = [f"## Floors\n\n{render_floors(checks)}"] if checks else []
    return "\n\n".join([f"# {recipe.title}", describe_legend(recipe), *floors, *sections]) + "\n"


def _render_table(table: ResultTable) -> str:
    titles = [f"{column} ({table.format_repeats(column)})" for column in table.columns]
    lines = [f"| method | {' | '.join(titles)} |", f"| --- |{' ---: |' * len(titles)}"]
    for method in table.methods:
        results = [table.cells.get((method, column)) for column in table.columns]
        lines.append(
            f"| {method} | {' | '.join('' if result is None else _format_cell(result) for result in results)} |"
        )
    return "\n".join(lines)


def _format_cell(result: Result) -> str:
    cell = format_value(result.mean, result.error)
    if result.overlaps is False:
        cell = f"**{cell}**"
    if not result.complete:
        cell = f"{cell} (incomplete)"
    if result.paper is None:
        return cell
    paper = format_value(result.paper.mean, result.paper.error)
    return f"{cell} / {paper} ({format_difference(result.mean - result.paper.mean)})"


def format_difference(difference: float) -> str:
    """Format a difference with its sign.

    >>> format_difference(0.0123), format_difference(-0.0123), format_difference(-0.0001)
    ('+0.012', '−0.012', '0.000')
    """
    text = f"{difference:+.3f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def format_value(mean: float, error: float | None) -> str:
    """Format a mean with its error, if there is one.

    >>> format_value(0.5, 0.0123), format_value(-0.5, None)
    ('0.500±0.012', '−0.500')
    """
    text = f"{mean:.3f}".replace("-", "−")
    return text if error is None else f"{text}±{error:.3f}"
