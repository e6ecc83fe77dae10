"""Every model that an experiment trained, as lines of a table."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bagwise.comparing import Comparison
from bagwise.evaluation.cross_validation import Unit
from bagwise.paper.recipes import Setting


def fit_rows(place: Path, settings: Sequence[Setting]) -> Iterator[dict[str, Any]]:
    """A line for each model that was trained and judged: where it stands, its metrics, and how long it took."""
    for setting in settings:
        for draw in draws_of(place / setting.name):
            for method, units in Comparison(draw).units.items():
                for unit in units:
                    placed = {"setting": setting.name, "draw": _number(draw), "method": method}
                    yield {**placed, "repeat": unit["repeat"], "fold": unit["fold"], **_judged(unit)}


def _judged(unit: Unit) -> dict[str, Any]:
    numbers = {**unit["metrics"]["bags"], **{f"{what}_seconds": value for what, value in unit["seconds"].items()}}
    return {name: None if value is None else float(f"{value:.6g}") for name, value in numbers.items()}


def draws_of(folder: Path) -> list[Path]:
    """The folders of a setting's draws, in their order."""
    return sorted(folder.glob("draw-*"), key=_number)


def _number(path: Path) -> int:
    return int(path.name.removeprefix("draw-"))
