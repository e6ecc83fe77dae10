"""Results as tables, each of the paper with ours beside its own, and as a page of markdown."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bagwise.paper.recipes import Recipe
from bagwise.paper.results import Result

LEGEND = (
    "Each cell: ours ± error / the paper's ± error (difference); **bold** where the two intervals of one error do not "
    "meet; (part) where folds are still to be run. Our error is the standard error over folds (mean over repeats) "
    "where there are folds, as the paper's seems to be, else the standard error over draws; results.csv has both, and "
    "how many repeats and fits stand behind each number."
)
TOGETHER = "Metrics are those of the predictions of all folds of a repeat together; the means over folds stand below."


class Table(NamedTuple):
    """The numbers of one table."""

    name: str
    methods: list[str]
    columns: list[str]
    cells: dict[tuple[str, str], Result]  # by method and column; what is not run is missing

    def repeats(self, column: str) -> str:
        """How often the numbers of a column were repeated."""
        found = sorted({result.n_repeats for (_, own), result in self.cells.items() if own == column})
        return f"{found[0]}×" if len(found) == 1 else f"{found[0]}–{found[-1]}×"


def tables(results: Sequence[Result]) -> list[Table]:
    """One for each table of the paper, in the order of the results."""
    return [
        Table(
            name,
            list(dict.fromkeys(result.method for result in own)),
            _in_order(dict.fromkeys(result.column for result in own)),
            {(result.method, result.column): result for result in own},
        )
        for name in dict.fromkeys(result.table for result in results)
        if (own := [result for result in results if result.table == name])
    ]


def _in_order(columns: Iterable[str]) -> list[str]:
    """Numbers by their size, words as they came."""
    found = list(columns)
    return sorted(found, key=int) if all(column.isdigit() for column in found) else found


def legend(recipe: Recipe) -> str:
    """How the tables of an experiment are read."""
    return f"{LEGEND} {TOGETHER}" if recipe.pooled else LEGEND


def markdown(recipe: Recipe, results: Sequence[Result]) -> str:
    """The page of an experiment."""
    sections = (f"## {table.name}\n\n{_markdown(table)}" for table in tables(results))
    parts = [f"# {recipe.title}", legend(recipe), *sections]
    return "\n\n".join(parts) + "\n"


def _markdown(table: Table) -> str:
    columns = [f"{column} ({table.repeats(column)})" for column in table.columns]
    lines = [f"| method | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    for method in table.methods:
        found = [table.cells.get((method, column)) for column in table.columns]
        lines.append(f"| {method} | {' | '.join('' if result is None else _cell(result) for result in found)} |")
    return "\n".join(lines)


def _cell(result: Result) -> str:
    ours = valued(result.mean, result.error)
    if result.meets is False:
        ours = f"**{ours}**"
    if not result.complete:
        ours = f"{ours} (part)"
    return (
        ours
        if result.paper is None
        else f"{ours} / {valued(*result.paper)} ({signed(result.mean - result.paper.mean)})"
    )


def signed(difference: float) -> str:
    """A difference with its sign.

    >>> signed(0.0123), signed(-0.0123), signed(-0.0001)
    ('+0.012', '−0.012', '0.000')
    """
    text = f"{difference:+.3f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def valued(mean: float, error: float | None) -> str:
    """A mean with its error, where it has one.

    >>> valued(0.5, 0.0123), valued(0.5, None)
    ('0.500±0.012', '0.500')
    """
    return f"{mean:.3f}" if error is None else f"{mean:.3f}±{error:.3f}"
