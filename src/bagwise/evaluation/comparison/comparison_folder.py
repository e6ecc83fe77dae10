"""The folder of a comparison.

plan.json           data, methods and protocol: enough to repeat the comparison
environment.json    versions and machine
units/METHOD/       repeat-fold.json: predictions and metrics of one fit
table.csv …         tables and pages generated from the units
"""

from contextlib import AbstractContextManager
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from bagwise.errors import InputError, translate_errors
from bagwise.evaluation.cross_validation import (
    Scores,
    Unit,
    get_metric_values,
    get_test_share,
    summarise_units,
)
from bagwise.evaluation.intervals import (
    Difference,
    compare_paired,
    read_unit_target,
    resample_difference,
    resample_metrics,
    share_test_bags,
)
from bagwise.io import MANIFEST, find_damage, read_json
from bagwise.targets import Target

KIND = "bagwise comparison"
PLAN = "plan.json"
ENVIRONMENT = "environment.json"
UNITS = "units"

UNIT_KEYS = {"repeat", "fold", "n_training", "rows", "threshold", "predictions", "metrics", "seconds"}

PARTS = {  # the parts of a unit's metrics, with the titles of their tables
    "bags": "bags",
    "groups": "groups (e.g. patients), by the mean predictions of their bags",
    "weights": "key instances, ranked by their weights",
    "scores": "key instances, ranked by their own scores",
}


def get_unit_path(folder: Path, method: str, repeat: int, fold: int) -> Path:
    """Return the path of the file of one fit.

    Parameters
    ----------
    folder : Path
        Folder of the comparison.
    method : str
        Full name of the method.
    repeat, fold : int
        Indices of the split.

    Returns
    -------
    Path
    """
    return folder / UNITS / method / f"{repeat:03d}-{fold:03d}.json"


def list_pages(folder: Path) -> set[str]:
    """List the files generated from the units; they can be regenerated and are not in the manifest."""
    return {path.name for path in folder.iterdir() if path.is_file()} - {MANIFEST, PLAN, ENVIRONMENT}


class Pair(NamedTuple):
    """Two methods and their difference on the same folds."""

    first: str
    second: str
    difference: Difference


class Comparison:
    """A comparison, read from its folder; an interrupted comparison has the units completed so far.

    Parameters
    ----------
    folder : str or Path
        Folder of the comparison.

    Attributes
    ----------
    folder : Path
        Folder of the comparison.
    plan : dict
        The stored plan.
    units : dict of str to list of Unit
        The units of each method, in the order of the plan; methods without units are left out.
    target : Target
        The target of the methods.
    scores : dict of str to dict
        ``Scores`` of every metric of bags, for each method.

    Raises
    ------
    InputError
        If a file is damaged.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if (self.folder / MANIFEST).exists() and (damage := find_damage(self.folder)):
            raise InputError(
                f"{self.folder} is damaged: {'; '.join(damage[:3])}; restore it from a copy, or compare again"
            )
        stored = read_json(self.folder / PLAN)
        if not isinstance(stored, dict) or not isinstance(stored.get("plan"), dict):
            raise InputError(f"{self.folder / PLAN} is damaged; run the comparison again")
        self.plan: dict[str, Any] = stored["plan"]
        methods = self.plan.get("methods")
        if not isinstance(methods, dict) or any(Path(name).name != name for name in methods):
            raise InputError(f"{self.folder / PLAN} is damaged: it lists no valid methods; run the comparison again")

    @cached_property
    def units(self) -> dict[str, list[Unit]]:
        with self._report_invalid_units():
            units = {
                name: [_read_unit(path) for path in sorted((self.folder / UNITS / name).glob("*.json"))]
                for name in self.plan["methods"]
            }
        return {name: found for name, found in units.items() if found}

    @cached_property
    def target(self) -> Target:
        with self._report_invalid_units():
            return read_unit_target(next(iter(self.units.values()))[0])

    @cached_property
    def warnings(self) -> list[str]:
        """Reasons why all scores are too optimistic; every table, page and csv file of the comparison shows them."""
        found = ["the epoch was chosen on the test bags"] if self.plan.get("peeking") else []
        counts = [unit.get("seen_bags", 0) for units in self.units.values() for unit in units]
        if not found and any(counts):
            n_fits = sum(count > 0 for count in counts)
            found.append(f"in {n_fits} of {len(counts)} fits, test bags have the same instances as training bags")
        return [f"WARNING, too optimistic: {reason}" for reason in found]

    @cached_property
    def scores(self) -> dict[str, dict[str, Scores]]:
        return self.part("bags")

    def part(self, part: str) -> dict[str, dict[str, Scores]]:
        """Summarise every metric of one part.

        Parameters
        ----------
        part : {"bags", "groups", "weights", "scores"}
            See ``PARTS``.

        Returns
        -------
        dict of str to dict of str to Scores
            Scores by method and metric; methods without this part are left out.
        """
        with self._report_invalid_units():
            scores = {name: summarise_units(units, part) for name, units in self.units.items()}
        return {name: metrics for name, metrics in scores.items() if metrics}

    def differences(self, metric: str) -> list[Pair]:
        """Compare every pair of methods by a metric of bags, on the folds that both have completed.

        Parameters
        ----------
        metric : str
            Name of a metric of bags.

        Returns
        -------
        list of Pair
            The difference is the first method minus the second.
        """
        pairs = (
            (first, second, self.compare_pair(first, second, metric)) for first, second in combinations(self.units, 2)
        )
        with self._report_invalid_units():
            return [Pair(first, second, difference) for first, second, difference in pairs if difference is not None]

    def _report_invalid_units(self) -> AbstractContextManager[None]:
        """Convert errors caused by inconsistent units to an InputError that names their folder."""
        return translate_errors(
            self.folder / UNITS, "has files that are not units of one comparison", "delete them and run it again"
        )

    def compare_pair(self, first: str, second: str, metric: str) -> Difference | None:
        """Compare two methods by a metric of bags, on the folds that both have completed; None if there are none.

        Parameters
        ----------
        first, second : str
            Full names of the methods.
        metric : str
            Name of a metric of bags.

        Returns
        -------
        Difference or None
            The first method minus the second.
        """
        units, other_units = _select_shared(self.units[first], self.units[second])
        if not units:
            return None
        values, other_values = (get_metric_values(found, metric) for found in (units, other_units))
        difference = compare_paired(values, other_values, get_test_share(units))
        if difference is None or not share_test_bags([*units, *other_units]):
            return difference
        resampled, other_resampled = (resample_metrics(found, "bags")[metric] for found in (units, other_units))
        return resample_difference(resampled, other_resampled, difference.mean, difference.n_folds)


def _read_unit(path: Path) -> Unit:
    unit = read_json(path)
    if (
        not isinstance(unit, dict)
        or not unit.keys() >= UNIT_KEYS
        or not isinstance(unit["seconds"]["fit"], int | float)
    ):
        raise InputError(f"{path} is damaged: it is not the unit of a comparison; delete it and compare again")
    return unit


def _select_shared(first: list[Unit], second: list[Unit]) -> tuple[list[Unit], list[Unit]]:
    """Select the units of two methods on the splits that both have completed."""
    by_split = [{(unit["repeat"], unit["fold"]): unit for unit in units} for units in (first, second)]
    shared = sorted(by_split[0].keys() & by_split[1].keys())
    return [by_split[0][split] for split in shared], [by_split[1][split] for split in shared]
