"""A comparison is a folder: the plan, the environment, and a file for each method on each split.

plan.json           data, methods, protocol: enough to repeat it
environment.json    versions and machine
units/METHOD/       repeat-fold.json: predictions and metrics of one fit
table.csv …         made from these
"""

from contextlib import AbstractContextManager
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from bagwise.errors import InputError
from bagwise.evaluation.cross_validation import Scores, Unit, metric_values, summarise_units, test_share
from bagwise.evaluation.errors import Difference, paired_difference
from bagwise.evaluation.one_test_set import drawn_difference, drawn_metrics, share_test_bags
from bagwise.files import MANIFEST, read_json
from bagwise.formats.blaming import blaming
from bagwise.manifests import damages

KIND = "bagwise comparison"
PLAN = "plan.json"
ENVIRONMENT = "environment.json"
UNITS = "units"
UNIT = {"repeat", "fold", "n_training", "rows", "threshold", "predictions", "metrics", "seconds"}
PARTS = {  # of what a unit has metrics
    "bags": "bags",
    "groups": "groups (e.g. patients), by the mean of the probabilities of their bags",
    "weights": "key instances, found by their weights",
    "scores": "key instances, found by their own scores",
}


def unit_path(folder: Path, method: str, repeat: int, fold: int) -> Path:
    """Where the unit of a method on a split is written."""
    return folder / UNITS / method / f"{repeat:03d}-{fold:03d}.json"


def pages(folder: Path) -> set[str]:
    """The names of what is made from the units, and made again at will."""
    return {path.name for path in folder.iterdir() if path.is_file()} - {MANIFEST, PLAN, ENVIRONMENT}


class Pair(NamedTuple):
    """Two methods on the same folds."""

    first: str
    second: str
    difference: Difference


class Comparison:
    """A comparison, read from its folder; one that was cut is read as far as it went."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if (self.folder / MANIFEST).exists() and (found := damages(self.folder)):
            raise InputError(f"{self.folder} is damaged: {'; '.join(found[:3])}; restore it, or compare anew")
        stored = read_json(self.folder / PLAN)
        if not isinstance(stored, dict) or not isinstance(stored.get("plan"), dict):
            raise InputError(f"{self.folder / PLAN} is damaged; make the comparison again")
        self.plan: dict[str, Any] = stored["plan"]
        methods = self.plan.get("methods")
        if not isinstance(methods, dict) or any(Path(name).name != name for name in methods):
            raise InputError(f"{self.folder / PLAN} does not name methods; make the comparison again")

    @cached_property
    def units(self) -> dict[str, list[Unit]]:
        """The units of each method, in the order of the plan; methods without any are left out."""
        with self._fitting():
            found = {
                name: [_read_unit(path) for path in sorted((self.folder / UNITS / name).glob("*.json"))]
                for name in self.plan["methods"]
            }
        return {name: units for name, units in found.items() if units}

    @cached_property
    def scores(self) -> dict[str, dict[str, Scores]]:
        """For each method, every metric of bags with its errors."""
        return self.part("bags")

    def part(self, part: str) -> dict[str, dict[str, Scores]]:
        """For each method that has it, every metric of a part with its errors; PARTS names them."""
        with self._fitting():
            found = {name: summarise_units(units, part) for name, units in self.units.items()}
        return {name: metrics for name, metrics in found.items() if metrics}

    def differences(self, metric: str) -> list[Pair]:
        """Every pair of methods by their difference in a metric of bags, on the folds that both have done."""
        pairs = (
            (first, second, self._difference(first, second, metric)) for first, second in combinations(self.units, 2)
        )
        with self._fitting():
            return [Pair(first, second, difference) for first, second, difference in pairs if difference is not None]

    def _fitting(self) -> AbstractContextManager[None]:
        """Units that do not fit together are said of the folder they lie in."""
        return blaming(self.folder / UNITS, "hold what no comparison consists of", "delete them and compare again")

    def _difference(self, first: str, second: str, metric: str) -> Difference | None:
        one, other = _shared(self.units[first], self.units[second])
        if not one:
            return None
        found = paired_difference(metric_values(one, metric), metric_values(other, metric), test_share(one))
        if found is None or not share_test_bags([*one, *other]):
            return found
        drawn, others = (drawn_metrics(units, "bags")[metric] for units in (one, other))
        return drawn_difference(drawn, others, found.mean, found.n_folds)


def _read_unit(path: Path) -> Unit:
    unit = read_json(path)
    if not isinstance(unit, dict) or not unit.keys() >= UNIT or not isinstance(unit["seconds"]["fit"], int | float):
        raise InputError(f"{path} is damaged: it does not hold what a unit consists of; delete it and compare again")
    return unit


def _shared(first: list[Unit], second: list[Unit]) -> tuple[list[Unit], list[Unit]]:
    places = [{(unit["repeat"], unit["fold"]): unit for unit in units} for units in (first, second)]
    both = sorted(places[0].keys() & places[1].keys())
    return [places[0][place] for place in both], [places[1][place] for place in both]
