"""The results of an experiment next to the paper's numbers, and one row per trained model.

The paper's ± is consistent with the standard deviation over folds / √folds where it cross-validates. Ours is the same
there, and the standard error over draws where training bags are sampled anew. Both are given, with the numbers of
repeats and fits.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.evaluation import Unit, compute_fold_error, get_metric_values, get_pooled_values
from bagwise.evaluation.comparison import Comparison
from bagwise.paper.published import Published, read_published
from bagwise.paper.recipes import Recipe, Setting

INSTANCE_METRICS = {  # metrics within bags, averaged over bags: part and name in a unit, by title
    "AUC of the weights": ("weights", "auc"),
    "top-1 of the weights": ("weights", "top_1"),
    "AUC of the scores": ("scores", "auc"),
    "evenness of the weights": ("sharing", "evenness"),
}

# Parts of the names of tables
INSTANCES = "instances"
FOLD_MEANS = "means over folds"  # in addition to pooled metrics: the paper does not state which it uses


class Result(NamedTuple):
    """One number of a table.

    Attributes
    ----------
    table, method, column : str
    paper : Published or None
        None for methods that are not in the paper.
    mean : float
    repeat_error : float or None
        Standard error over repeats.
    fold_error : float or None
        Standard error over folds, averaged over repeats.
    n_repeats, n_fits : int
    complete : bool, default=True
        Whether no fold of a repeat is missing.
    """

    table: str
    method: str
    column: str
    paper: Published | None
    mean: float
    repeat_error: float | None
    fold_error: float | None
    n_repeats: int
    n_fits: int
    complete: bool = True

    @property
    def error(self) -> float | None:
        """The error that corresponds to the paper's."""
        return self.repeat_error if self.fold_error is None else self.fold_error

    @property
    def difference(self) -> float | None:
        """Our mean minus the paper's."""
        return None if self.paper is None else self.mean - self.paper.mean

    @property
    def overlaps(self) -> bool | None:
        """Whether the two intervals of ± one error overlap; None if an error is unknown or folds are missing."""
        if self.paper is None or self.paper.error is None or self.error is None or not self.complete:
            return None
        return abs(self.mean - self.paper.mean) <= self.paper.error + self.error


def make_result_rows(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Make the rows of results.csv.

    Parameters
    ----------
    results : sequence of Result

    Returns
    -------
    list of dict
    """
    return [
        {
            "table": result.table,
            "method": result.method,
            "column": result.column,
            "paper": None if result.paper is None else result.paper.mean,
            "paper_error": None if result.paper is None else result.paper.error,
            "ours": result.mean,
            "standard_error_over_repeats": result.repeat_error,
            "standard_error_over_folds": result.fold_error,
            "n_repeats": result.n_repeats,
            "n_fits": result.n_fits,
            "complete": result.complete,
            "difference": result.difference,
            "intervals_meet": result.overlaps,
        }
        for result in results
    ]


def make_fit_rows(folder: Path, settings: Sequence[Setting]) -> Iterator[dict[str, Any]]:
    """Make the rows of fits.csv: one per trained model, with its metrics and times.

    Parameters
    ----------
    folder : Path
        Folder of the experiment.
    settings : sequence of Setting

    Yields
    ------
    dict
    """
    for setting in settings:
        for draw in list_draws(folder / setting.name):
            for method, units in Comparison(draw).units.items():
                for unit in units:
                    fit = {"setting": setting.name, "draw": _get_draw_number(draw), "method": method}
                    yield {**fit, "repeat": unit["repeat"], "fold": unit["fold"], **_collect_values(unit)}


def _collect_values(unit: Unit) -> dict[str, Any]:
    seconds = {f"{phase}_seconds": value for phase, value in unit["seconds"].items()}
    values = {**unit["metrics"]["bags"], **seconds}
    return {name: None if value is None else float(f"{value:.6g}") for name, value in values.items()}


def list_draws(folder: Path) -> list[Path]:
    """List the folders of a setting's draws, by number."""
    return sorted(folder.glob("draw-*"), key=_get_draw_number)


def _get_draw_number(path: Path) -> int:
    return int(path.name.removeprefix("draw-"))


def read_results(folder: Path, recipe: Recipe, settings: Sequence[Setting]) -> list[Result]:
    """Read all numbers of an experiment that are available.

    Parameters
    ----------
    folder : Path
        Folder of the experiment.
    recipe : Recipe
    settings : sequence of Setting

    Returns
    -------
    list of Result
    """
    return [result for setting in settings for result in _read_setting(folder / setting.name, recipe, setting)]


def _read_setting(folder: Path, recipe: Recipe, setting: Setting) -> Iterator[Result]:
    comparisons = [Comparison(path) for path in list_draws(folder)]
    done = [method for comparison in comparisons for method in comparison.units]
    methods = sorted(dict.fromkeys(done), key=[*setting.methods, *done].index)  # in the order of the recipe
    for column in [*_list_bag_columns(recipe, setting), *_list_instance_columns(setting)]:
        for method in methods:
            done_by = [comparison for comparison in comparisons if method in comparison.units]
            result = _compute_result([comparison.units[method] for comparison in done_by], column, method)
            if result is not None:
                yield result._replace(complete=all(_is_complete(comparison, method) for comparison in done_by))


def _is_complete(comparison: Comparison, method: str) -> bool:
    """Check that every started repeat has all its folds; the data set's own test bags count as one fold."""
    units, folds = comparison.units[method], comparison.plan["folds"] or 1
    return len(units) == folds * len({unit["repeat"] for unit in units})


class ResultColumn(NamedTuple):
    """A column of numbers: a metric of one part of the units."""

    table: str
    column: str
    metric: str
    part: str  # "bags", or an entry of INSTANCE_METRICS
    pooled: bool  # over the predictions of all folds of a repeat
    published: str | None  # table of the paper that has this column


def _list_bag_columns(recipe: Recipe, setting: Setting) -> list[ResultColumn]:
    if setting.column:
        metrics = {setting.column: recipe.metric}
    else:
        metrics = {column: column for _, column in read_published(setting.table)}
    tables = {_name_table(setting): recipe.pooled}
    if recipe.pooled:
        tables[f"{_name_table(setting)}: {FOLD_MEANS}"] = False
    return [
        ResultColumn(
            table=table,
            column=column,
            metric=metric,
            part="bags",
            pooled=pooled,
            published=setting.table if setting.comparable else None,
        )
        for table, pooled in tables.items()
        for column, metric in metrics.items()
    ]


def _list_instance_columns(setting: Setting) -> list[ResultColumn]:
    """Metrics of key instances, where these are known; the paper shows them only in figures."""
    name = f"{_name_table(setting)}: {INSTANCES}"
    return [
        ResultColumn(
            table=f"{name}, {title}" if setting.column else name,
            column=setting.column or title,
            metric=metric,
            part=part,
            pooled=False,
            published=None,
        )
        for title, (part, metric) in INSTANCE_METRICS.items()
    ]


def find_instance_metric(table: str) -> str | None:
    """Return the title of the instance metric that the name of a table ends with, if it is a table of instances."""
    return next((title for title in INSTANCE_METRICS if table.endswith(f"{INSTANCES}, {title}")), None)


def _name_table(setting: Setting) -> str:
    return f"{setting.table}: {setting.title}" if setting.title else setting.table


def _compute_result(draws: list[list[Unit]], column: ResultColumn, method: str) -> Result | None:
    """One number from the units of a method, one list of units per draw."""
    if column.pooled:
        repeats = [get_pooled_values(units, column.metric) for units in draws]
    else:
        repeats = [_average_folds(units, column) for units in draws]
    values = np.array([value for draw in repeats for value in draw if not np.isnan(value)])
    if len(values) == 0:
        return None
    errors = [compute_fold_error(get_metric_values(units, column.metric, column.part)) for units in draws]
    known_errors = [error for error in errors if error is not None]
    published = {} if column.published is None else read_published(column.published)
    return Result(
        table=column.table,
        method=method,
        column=column.column,
        paper=published.get((method, column.column)),
        mean=float(values.mean()),
        repeat_error=float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None,
        fold_error=float(np.mean(known_errors)) if known_errors else None,
        n_repeats=len(values),
        n_fits=sum(map(len, draws)),
    )


def _average_folds(units: list[Unit], column: ResultColumn) -> np.ndarray:
    """The mean over the available folds of each repeat."""
    values = get_metric_values(units, column.metric, column.part)
    return np.array([np.nanmean(row) for row in values if not np.isnan(row).all()])
