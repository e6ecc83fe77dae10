"""What an experiment came to, beside what the paper printed.

The paper's ± fits the standard deviation over folds / √folds where it cross-validates; ours is that one there, and the
standard error over draws where training bags are drawn anew. Both are given, with the number of repeats and of fits.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.comparing import Comparison
from bagwise.evaluation.cross_validation import Unit, metric_values, pooled_values
from bagwise.paper.fits import draws_of
from bagwise.paper.published import Published, published
from bagwise.paper.recipes import Recipe, Setting

KEYS = {  # of instances within bags, mean over bags
    "AUC of the weights": ("weights", "auc"),
    "top-1 of the weights": ("weights", "top_1"),
    "AUC of the scores": ("scores", "auc"),
    "evenness of the weights": ("sharing", "evenness"),
}
MEANS = "means over folds"  # beside metrics of a repeat's predictions together: the paper does not say which it has


class Result(NamedTuple):
    """One number of a table."""

    table: str
    method: str
    column: str
    paper: Published | None  # None for methods of ours
    mean: float
    repeat_error: float | None  # standard error over repeats
    fold_error: float | None  # standard error over folds, mean over repeats
    n_repeats: int
    n_fits: int
    complete: bool = True  # whether no fold of a repeat is missing

    @property
    def error(self) -> float | None:
        """The one that is like the paper's."""
        return self.repeat_error if self.fold_error is None else self.fold_error

    @property
    def difference(self) -> float | None:
        return None if self.paper is None else self.mean - self.paper.mean

    @property
    def meets(self) -> bool | None:
        """Whether the two intervals of one error meet; None where one has none, or folds are missing."""
        if self.paper is None or self.paper.error is None or self.error is None or not self.complete:
            return None
        return abs(self.mean - self.paper.mean) <= self.paper.error + self.error


def read_results(place: Path, recipe: Recipe, settings: Sequence[Setting]) -> list[Result]:
    """Every number that is there so far."""
    return [result for setting in settings for result in _of_setting(place / setting.name, recipe, setting)]


def _of_setting(folder: Path, recipe: Recipe, setting: Setting) -> Iterator[Result]:
    comparisons = [Comparison(path) for path in draws_of(folder)]
    done = [method for comparison in comparisons for method in comparison.units]
    methods = sorted(dict.fromkeys(done), key=[*setting.methods, *done].index)  # the recipe's order
    for asked in [*_of_bags(recipe, setting), *_of_instances(setting)]:
        for method in methods:
            done_by = [comparison for comparison in comparisons if method in comparison.units]
            result = _result([comparison.units[method] for comparison in done_by], asked, method)
            if result is not None:
                yield result._replace(complete=all(_is_complete(comparison, method) for comparison in done_by))


def _is_complete(comparison: Comparison, method: str) -> bool:
    """Whether every repeat that was begun has all its folds; one test set of the data's own is a single fold."""
    units, folds = comparison.units[method], comparison.plan["folds"] or 1
    return len(units) == folds * len({unit["repeat"] for unit in units})


class Asked(NamedTuple):
    """A column of numbers: which metric of which part of the units."""

    table: str
    column: str
    metric: str
    part: str  # "bags", or "weights" or "scores" of instances
    pooled: bool  # over a repeat's predictions together
    published: str | None  # the table of the paper that has it


def _of_bags(recipe: Recipe, setting: Setting) -> list[Asked]:
    columns = (
        {setting.column: recipe.metric} if setting.column else {each: each for _, each in published(setting.table)}
    )
    paper = setting.table if setting.comparable else None
    ways = {_name(setting): recipe.pooled}
    if recipe.pooled:
        ways[f"{_name(setting)}: {MEANS}"] = False
    return [
        Asked(table, *column, "bags", pooled, paper) for table, pooled in ways.items() for column in columns.items()
    ]


def _of_instances(setting: Setting) -> list[Asked]:
    """How well key instances are found, where it is known which they are: the paper shows it in pictures alone."""
    name = f"{_name(setting)}: instances"
    return [
        Asked(f"{name}, {words}" if setting.column else name, setting.column or words, metric, part, False, None)
        for words, (part, metric) in KEYS.items()
    ]


def _name(setting: Setting) -> str:
    return f"{setting.table}: {setting.title}" if setting.title else setting.table


def _result(draws: list[list[Unit]], asked: Asked, method: str) -> Result | None:
    metric, part = asked.metric, asked.part
    found = [pooled_values(units, metric) if asked.pooled else _means(units, metric, part) for units in draws]
    values = np.array([value for each in found for value in each if not np.isnan(value)])
    if len(values) == 0:
        return None
    folds = [_fold_error(units, metric, part) for units in draws]
    known = [error for error in folds if error is not None]
    return Result(
        asked.table,
        method,
        asked.column,
        None if asked.published is None else published(asked.published).get((method, asked.column)),
        mean=float(values.mean()),
        repeat_error=float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None,
        fold_error=float(np.mean(known)) if known else None,
        n_repeats=len(values),
        n_fits=sum(map(len, draws)),
    )


def _means(units: list[Unit], metric: str, part: str) -> np.ndarray:
    """The mean over folds of each repeat that is complete or under way."""
    values = metric_values(units, metric, part)
    return np.array([np.nanmean(row) for row in values if not np.isnan(row).all()])


def _fold_error(units: list[Unit], metric: str, part: str) -> float | None:
    rows = [row[~np.isnan(row)] for row in metric_values(units, metric, part)]
    each = [row.std(ddof=1) / np.sqrt(len(row)) for row in rows if len(row) > 1]
    return float(np.mean(each)) if each else None


def result_rows(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Lines of a csv."""
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
            "intervals_meet": result.meets,
        }
        for result in results
    ]
