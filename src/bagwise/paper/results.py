"""The results of an experiment next to the paper's numbers, and one row per trained model.

Where the paper uses cross-validation, its errors are consistent with the standard deviation over folds / √folds. Our
errors are the same there; where training bags are sampled anew, they are the standard error over draws. Both errors are
given, with the numbers of repeats and fits.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.evaluation import (
    Unit,
    arrange_values,
    compute_fold_error,
    get_metric_values,
    get_pooled_values,
    pool_predictions,
)
from bagwise.evaluation.comparison import Comparison
from bagwise.paper.experiments import Recipe, Setting
from bagwise.paper.published import Published, read_published
from bagwise.targets import compute_excess_calibration_error

INSTANCE_METRICS = {  # title → part and name in a unit; computed within bags, then averaged over bags
    "AUC of the weights": ("weights", "auc"),
    "top-1 of the weights": ("weights", "top_1"),
    "AUC of the scores": ("scores", "auc"),
    "evenness of the weights": ("sharing", "evenness"),
}

# Columns of Setting.metrics that are not metrics of a fit
EXCESS = "excess_calibration_error"  # of the predictions of all folds of a repeat together
SECONDS = "seconds"  # of a fit

# Suffixes of the names of tables
INSTANCES = "instances"
FOLD_MEANS = "means over folds"  # in addition to pooled metrics, because the paper does not state which it uses


class Result(NamedTuple):
    """One result of a table.

    Attributes
    ----------
    table, method, column : str
        Table, row and column of the result.
    paper : Published or None
        Result of the paper; None if the paper has none.
    mean : float
        Our mean over repeats.
    repeat_error : float or None
        Standard error over repeats; None for a single repeat.
    fold_error : float or None
        Standard error over folds, averaged over repeats; None without folds.
    n_repeats, n_fits : int
        Numbers of repeats and of fits behind the mean.
    complete : bool, default=True
        Whether all folds of each repeat have been run.
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
    """Return the rows of results.csv.

    Parameters
    ----------
    results : sequence of Result
        Results to convert.

    Returns
    -------
    list of dict
        One row per result.
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
    """Yield the rows of fits.csv: one per trained model, with its metrics and times.

    Parameters
    ----------
    folder : Path
        Folder of the experiment.
    settings : sequence of Setting
        Settings to read.

    Yields
    ------
    dict
        The row of a fit.
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
    """Return the folders of a setting's draws, sorted by number."""
    return sorted(folder.glob("draw-*"), key=_get_draw_number)


def _get_draw_number(path: Path) -> int:
    return int(path.name.removeprefix("draw-"))


def read_results(folder: Path, recipe: Recipe, settings: Sequence[Setting]) -> list[Result]:
    """Read all available results of an experiment.

    Parameters
    ----------
    folder : Path
        Folder of the experiment.
    recipe : Recipe
        Recipe of the experiment.
    settings : sequence of Setting
        Settings to read.

    Returns
    -------
    list of Result
        The results, in the order of the tables.
    """
    return [result for setting in settings for result in _read_setting(folder / setting.name, recipe, setting)]


def _read_setting(folder: Path, recipe: Recipe, setting: Setting) -> Iterator[Result]:
    comparisons = [Comparison(path) for path in list_draws(folder)]
    done = [method for comparison in comparisons for method in comparison.units]
    methods = sorted(dict.fromkeys(done), key=[*setting.methods, *done].index)  # in the order of the recipe
    for column in [*_list_bag_columns(recipe, setting), *_list_instance_columns(setting)]:
        for method in methods:
            done_by = [comparison for comparison in comparisons if method in comparison.units]
            row = setting.name_row(method)
            result = _compute_result([comparison.units[method] for comparison in done_by], column, row)
            if result is not None:
                yield result._replace(complete=all(_is_complete(comparison, method) for comparison in done_by))


def count_bags(folder: Path, settings: Sequence[Setting]) -> dict[str, int]:
    """Count the test bags of a repeat of each table whose settings have been run and are not run on request only."""
    counts = {}
    for setting in settings:
        for draw in list_draws(folder / setting.name)[:1]:
            for units in Comparison(draw).units.values():
                if not setting.on_request:
                    counts[setting.table] = sum(len(unit["rows"]) for unit in units if unit["repeat"] == 0)
    return counts


def _is_complete(comparison: Comparison, method: str) -> bool:
    """Return whether every started repeat has all its folds; a data set's own test bags count as one fold."""
    units, folds = comparison.units[method], comparison.plan["folds"] or 1
    return len(units) == folds * len({unit["repeat"] for unit in units})


def collect_means(results: Sequence[Result]) -> dict[str, dict[tuple[str, str], float]]:
    """Return the means of complete results, by table, and by row and column within it."""
    means: dict[str, dict[tuple[str, str], float]] = {}
    for result in results:
        if result.complete:
            means.setdefault(result.table, {})[result.method, result.column] = result.mean
    return means


class ResultColumn(NamedTuple):
    """A column of a table: a metric of one part of the units."""

    table: str
    column: str
    metric: str
    part: str  # "bags", or a part in INSTANCE_METRICS
    pooled: bool  # whether it is computed on the predictions of all folds of a repeat together
    published: str | None  # table of the paper that has this column


def _list_bag_columns(recipe: Recipe, setting: Setting) -> list[ResultColumn]:
    if setting.column:
        metrics = {setting.column: recipe.metric}
    elif setting.metrics:
        metrics = dict(zip(setting.metrics, setting.metrics, strict=True))
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
    """Return the columns of instance metrics; the paper shows key instances only in figures."""
    if setting.metrics:
        return []
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
    """Return the title of the instance metric in the name of a table; None for other tables."""
    return next((title for title in INSTANCE_METRICS if table.endswith(f"{INSTANCES}, {title}")), None)


def _name_table(setting: Setting) -> str:
    return f"{setting.table}: {setting.title}" if setting.title else setting.table


def _compute_result(draws: list[list[Unit]], column: ResultColumn, method: str) -> Result | None:
    """Compute a result from the units of a method, one list of units per draw; None if it is undefined."""
    repeats = [_compute_repeats(units, column) for units in draws]
    values = np.array([value for draw in repeats for value in draw if not np.isnan(value)])
    if len(values) == 0:
        return None
    errors = [None if column.metric == EXCESS else compute_fold_error(_get_values(units, column)) for units in draws]
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


def _compute_repeats(units: list[Unit], column: ResultColumn) -> np.ndarray:
    """Return the value of each repeat: of its pooled predictions, or the mean over its available folds."""
    if column.metric == EXCESS:
        pooled = [found for found in pool_predictions(units) if found is not None]
        return np.array([compute_excess_calibration_error(found.targets, found.outputs) for found in pooled])
    if column.pooled:
        return get_pooled_values(units, column.metric)
    return np.array([np.nanmean(row) for row in _get_values(units, column) if not np.isnan(row).all()])


def _get_values(units: list[Unit], column: ResultColumn) -> np.ndarray:
    """Return the value of each fit, by repeat and fold."""
    if column.metric == SECONDS:
        return arrange_values(units, [unit["seconds"]["fit"] for unit in units])
    return get_metric_values(units, column.metric, column.part)
