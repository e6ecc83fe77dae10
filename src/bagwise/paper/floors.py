"""Floors: bounds that the rows of an experiment should meet on each data set of a usual size, and on average."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

USUAL_SIZES = range(40, 601)  # numbers of bags of the data sets to which floors apply
MEAN = "mean"

Means = Mapping[tuple[str, str], float]  # results of one data set, by row and column


class Bound(NamedTuple):
    """An upper bound.

    >>> str(Bound(0.05)), Bound(0.05).is_met(0.05), str(Bound(0.0, strict=True)), Bound(0.0, strict=True).is_met(0.0)
    ('≤ 0.05', True, '< 0', False)
    """

    limit: float
    strict: bool = False  # whether the limit itself is excluded

    def is_met(self, value: float) -> bool:
        """Return whether a value is within the bound."""
        return value < self.limit if self.strict else value <= self.limit

    def __str__(self) -> str:
        return f"{'<' if self.strict else '≤'} {self.limit:g}"


class Floor(NamedTuple):
    """A bound of a number that is computed from the results of one data set.

    Attributes
    ----------
    title : str
        Name of the number.
    measure : callable
        ``measure(means)`` computes the number; it is skipped if a result that it looks up is missing.
    bound : Bound
        Bound on each data set.
    applies : callable, default=always
        ``applies(means, n_bags)`` returns whether the floor concerns a data set.
    mean_bound : Bound or None, default=None
        Bound of the mean over data sets; None if there is none.
    """

    title: str
    measure: Callable[[Means], float]
    bound: Bound
    applies: Callable[[Means, int], bool] = lambda means, n_bags: True
    mean_bound: Bound | None = None


class FloorCheck(NamedTuple):
    """Whether a floor is met on a data set, or on average."""

    data: str
    n_bags: int | None  # None for the mean over data sets
    floor: str
    value: float
    bound: str
    met: bool


def check_floors(floors: Sequence[Floor], means: Mapping[str, Means], n_bags: Mapping[str, int]) -> list[FloorCheck]:
    """Check floors on all data sets of a usual size, and the means of the numbers over these data sets.

    Parameters
    ----------
    floors : sequence of Floor
        Floors to check.
    means : mapping of str to mapping
        Results of each data set.
    n_bags : mapping of str to int
        Number of bags of each data set to check.

    Returns
    -------
    list of FloorCheck
        The checks of each data set, then those of the means.
    """
    checks = [
        check
        for data, count in n_bags.items()
        if count in USUAL_SIZES
        for check in _check_dataset(floors, data, count, means.get(data, {}))
    ]
    return [*checks, *_check_means(floors, checks)]


def _check_dataset(floors: Sequence[Floor], data: str, n_bags: int, means: Means) -> Iterator[FloorCheck]:
    for floor in floors:
        try:
            value = floor.measure(means) if floor.applies(means, n_bags) else None
        except KeyError:  # a row was not run
            continue
        if value is not None:
            yield FloorCheck(data, n_bags, floor.title, value, str(floor.bound), floor.bound.is_met(value))


def _check_means(floors: Sequence[Floor], checks: Sequence[FloorCheck]) -> Iterator[FloorCheck]:
    for floor in floors:
        values = [check.value for check in checks if check.floor == floor.title]
        if floor.mean_bound is not None and values:
            mean = float(np.mean(values))
            yield FloorCheck(MEAN, None, floor.title, mean, str(floor.mean_bound), floor.mean_bound.is_met(mean))


def make_floor_rows(checks: Sequence[FloorCheck]) -> list[dict[str, Any]]:
    """Return the rows of floors.csv, one per check."""
    return [check._asdict() for check in checks]


def render_floors(checks: Sequence[FloorCheck]) -> str:
    """Render checks as a Markdown table with one row per data set and one column per floor."""
    titles = list(dict.fromkeys(check.floor for check in checks))
    cells = {(check.data, check.floor): check for check in checks}
    lines = [f"| data | bags | {' | '.join(titles)} |", f"| --- | ---: |{' --- |' * len(titles)}"]
    for data, count in dict.fromkeys((check.data, check.n_bags) for check in checks):
        shown = " | ".join(_format_check(cells.get((data, title))) for title in titles)
        lines.append(f"| {data} | {'' if count is None else count} | {shown} |")
    return "\n".join(lines)


def _format_check(check: FloorCheck | None) -> str:
    if check is None:
        return ""
    value = f"{check.value:.3f}".replace("-", "−")
    return f"{value} {check.bound}: met" if check.met else f"**{value} {check.bound}: not met**"
