"""Results as a page of markdown: for each table of the paper ours beside its own, and whether the intervals meet."""

from collections.abc import Sequence

from bagwise.paper.recipes import Recipe
from bagwise.paper.results import Result

LEGEND = (
    "Each cell: ours ± error / the paper's ± error; **bold** where the two intervals of one error do not meet. Our "
    "error is the standard error over folds (mean over repeats) where there are folds, as the paper's seems to be, "
    "else the standard error over draws; results.csv has both, and how many repeats and fits stand behind each number."
)


def markdown(recipe: Recipe, results: Sequence[Result]) -> str:
    """The page of an experiment."""
    parts = [f"# {recipe.title}", LEGEND]
    for table in dict.fromkeys(result.table for result in results):
        own = [result for result in results if result.table == table]
        parts.append(f"## {table}\n\n{_table(own)}")
    return "\n\n".join(parts) + "\n"


def _table(results: Sequence[Result]) -> str:
    columns = list(dict.fromkeys(result.column for result in results))
    cells = {(result.method, result.column): result for result in results}
    methods = dict.fromkeys(result.method for result in results)
    repeats = {column: _repeats(results, column) for column in columns}
    lines = [
        f"| method | {' | '.join(f'{column} ({repeats[column]})' for column in columns)} |",
        f"| --- |{' ---: |' * len(columns)}",
    ]
    for method in methods:
        row = [_cell(cells[method, column]) if (method, column) in cells else "" for column in columns]
        lines.append(f"| {method} | {' | '.join(row)} |")
    return "\n".join(lines)


def _repeats(results: Sequence[Result], column: str) -> str:
    found = sorted({result.n_repeats for result in results if result.column == column})
    return f"{found[0]}×" if len(found) == 1 else f"{found[0]}–{found[-1]}×"


def _cell(result: Result) -> str:
    ours = _valued(result.mean, result.error)
    if result.meets is False:
        ours = f"**{ours}**"
    return ours if result.paper is None else f"{ours} / {_valued(*result.paper)}"


def _valued(mean: float, error: float | None) -> str:
    return f"{mean:.3f}" if error is None else f"{mean:.3f}±{error:.3f}"
