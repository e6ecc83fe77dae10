"""Execution of a comparison: all missing fits are run in several processes, and each is written when it completes.

The plan is written first. If the folder already has a plan, the comparison is resumed: methods and repeats may be
added, everything else must be the same.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bagwise.bags import fingerprint_bags
from bagwise.data import resolve_data_path
from bagwise.errors import InputError
from bagwise.evaluation.comparison.comparison_folder import (
    ENVIRONMENT,
    KIND,
    PLAN,
    UNITS,
    Comparison,
    get_unit_path,
    list_pages,
)
from bagwise.evaluation.comparison.plan import ComparisonData, ComparisonPlan, build_estimator, open_comparison_data
from bagwise.evaluation.comparison.ranking import MAJORITY, choose_metric
from bagwise.evaluation.cross_validation import Unit, evaluate_split
from bagwise.evaluation.protocol import Split
from bagwise.io import (
    MANIFEST,
    find_damage,
    is_unused_folder,
    lock_folder,
    read_json,
    remove_temporary_files,
    write_json,
    write_manifest,
)
from bagwise.parallel import DaskCluster, check_workers, run_tasks
from bagwise.training import describe_environment

MAX_SENT = 1 << 30  # bytes of instances that are sent to the workers of a cluster; these map a larger folder
MAY_DIFFER = ("methods", "selection", "repeats")  # fields of a plan that may be extended in the same folder


def compare_methods(
    folder: str | Path,
    plan: ComparisonPlan,
    *,
    baselines: bool = False,
    metric: str | None = None,
    workers: int | DaskCluster = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Comparison:
    """Run a comparison in a folder, or resume it.

    Parameters
    ----------
    folder : str or Path
        A new folder, or that of a comparison with the same plan. Methods and repeats may be added.
    plan : ComparisonPlan
        See ``make_plan``.
    baselines : bool, default=False
        Add the method "majority", if the target has it. It does not change the results of the other methods.
    metric : str or None, default=None
        Name of the metric by which the methods will be ranked. It is checked before anything is fitted.
    workers : int or DaskCluster, default=1
        Number of processes on this machine, or a Dask cluster. Results do not depend on it.
    progress : callable, optional
        Called as ``progress(done, total)`` after every fit.

    Returns
    -------
    Comparison
        The completed comparison.

    Raises
    ------
    InputError
        If the plan cannot be run, or if the folder has other content.
    """
    folder = Path(folder)
    check_workers(workers)
    resolved_data, options = resolve_data_path(plan.data, plan.options)
    plan = plan._replace(data=resolved_data, options=options)
    data = open_comparison_data(plan)
    choose_metric(data.target, metric)
    if baselines and MAJORITY in data.target.baselines:
        plan = plan._replace(methods={**plan.methods, MAJORITY: plan.methods.get(MAJORITY, {})})
    _check_folder(folder)
    with lock_folder(folder):
        _write_plan(folder, plan, data)
        remove_temporary_files(folder)
        _run_units(folder, plan, data, workers, progress)
        write_manifest(folder, KIND, passing=list_pages(folder))
    return Comparison(folder)


def _check_folder(folder: Path) -> None:
    """Reject a folder with other content before anything is written to it."""
    if not (folder / PLAN).exists() and not is_unused_folder(folder):
        raise InputError(f"{folder} exists and is not a comparison; choose a new folder")


def _write_plan(folder: Path, plan: ComparisonPlan, data: ComparisonData) -> None:
    """Write the plan, or check that it agrees with the stored plan and extend that one."""
    requested: dict[str, Any] = {
        "plan": plan._asdict(),
        "bags": fingerprint_bags(data.bags, data.labels),
        "first_splits": _hash_first_splits(data.splits),
    }
    path = folder / PLAN
    if not (path.exists() and any((folder / UNITS).rglob("*.json"))):
        write_json(path, requested)
        write_json(folder / ENVIRONMENT, describe_environment())
        return
    stored = read_json(path)
    _check_same_comparison(folder, stored, requested)
    if (folder / MANIFEST).exists() and (damage := find_damage(folder)):
        raise InputError(
            f"{folder} is damaged: {'; '.join(damage[:3])}; restore it from a copy, or choose a new folder"
        )
    _extend_plan(folder, stored, {**requested, "plan": _merge_plans(stored["plan"], requested["plan"])})


def _hash_first_splits(splits: list[Split]) -> str:
    """Hash the splits of the first repeat, because split files may change under the same name."""
    digest = hashlib.sha256()
    for split in splits:
        if split.repeat == 0:
            digest.update(repr((split.fold, split.training.tolist(), split.test.tolist())).encode())
    return digest.hexdigest()


def _check_same_comparison(folder: Path, stored: Any, requested: dict[str, Any]) -> None:
    """Reject a plan that differs from the stored one in more than additional methods and repeats."""
    if not isinstance(stored, dict) or not isinstance(stored.get("plan"), dict):
        raise InputError(f"{folder / PLAN} is damaged; run the comparison again in a new folder")
    before, now = stored["plan"], requested["plan"]
    known = {**ComparisonPlan._field_defaults, **before}  # plans written before a field existed lack it
    if any(known.get(name) != now[name] for name in now if name not in MAY_DIFFER) or not _methods_agree(before, now):
        differing = "methods, data or folds"
    elif stored.get("bags") != requested["bags"]:
        differing = "bags"
    elif stored.get("first_splits") != requested["first_splits"]:
        differing = "splits"
    else:
        return
    raise InputError(
        f"{folder} has a comparison with different {differing}; repeat its command to resume it (methods and repeats "
        "may be added), or choose a new folder"
    )


def _methods_agree(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Check that every method of both plans has the same parameters and grid in both."""
    common = before["methods"].keys() & now["methods"].keys()
    return all(
        before["methods"][name] == now["methods"][name] and before["selection"].get(name) == now["selection"].get(name)
        for name in common
    )


def _merge_plans(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return one plan for the completed and the requested fits."""
    merged = {name: {**before[name], **now[name]} for name in ("methods", "selection")}
    return {**now, **merged, "repeats": max(before["repeats"], now["repeats"])}


def _extend_plan(folder: Path, stored: dict[str, Any], requested: dict[str, Any]) -> None:
    """Write the extended plan; the manifest never describes a plan other than the one in the folder."""
    if stored == requested:
        return
    if (folder / MANIFEST).exists():
        write_manifest(folder, KIND, passing={PLAN, *list_pages(folder)})
    write_json(folder / PLAN, requested)


class PendingUnit(NamedTuple):
    """A fit to run: a method, and the index of its split."""

    method: str
    split: int


def _run_units(
    folder: Path,
    plan: ComparisonPlan,
    data: ComparisonData,
    workers: int | DaskCluster,
    progress: Callable[[int, int], None],
) -> None:
    def list_pending() -> list[PendingUnit]:
        return [
            PendingUnit(method, index)
            for index, split in enumerate(data.splits)
            for method in plan.methods
            if not get_unit_path(folder, method, split.repeat, split.fold).exists()
        ]

    def describe(pending: PendingUnit) -> str:
        split = data.splits[pending.split]
        return f"{pending.method} on fold {split.fold} of repeat {split.repeat}"

    if isinstance(workers, DaskCluster) and data.bags.nbytes <= MAX_SENT:
        data = data._replace(bags=data.bags.load())
    total = len(plan.methods) * len(data.splits)
    progress(total - len(list_pending()), total)
    for unit in run_tasks(partial(_run_unit, plan, data), list_pending, workers, describe):
        write_json(get_unit_path(folder, unit["method"], unit["repeat"], unit["fold"]), unit)
        progress(total - len(list_pending()), total)


def _run_unit(plan: ComparisonPlan, data: ComparisonData, pending: PendingUnit) -> Unit:
    split = data.splits[pending.split]
    estimator = build_estimator(plan, pending.method)
    unit = evaluate_split(estimator, data.bags, data.labels, split, plan.seed, peeking=plan.peeking)
    return {"method": pending.method, **unit}
