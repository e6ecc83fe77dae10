"""Running a comparison: every unit that is not yet written, over several processes, each written when it is done."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import get_tags

from bagwise.claims import clear_remains, sole_writer
from bagwise.comparing.beginning import begin, check_place
from bagwise.comparing.comparison import KIND, Comparison, pages, unit_path
from bagwise.comparing.plan import Material, Plan, build, open_material
from bagwise.errors import InputError
from bagwise.evaluation.cross_validation import judge_split
from bagwise.files import write_json
from bagwise.manifests import write_manifest
from bagwise.sources import located
from bagwise.working.cluster import Cluster
from bagwise.working.pieces import check_workers, work


class Todo(NamedTuple):
    """A unit to do: a method, and the number of its split."""

    method: str
    split: int


def compare(
    folder: str | Path,
    plan: Plan,
    *,
    workers: int | Cluster = 1,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Comparison:
    """Run a comparison, or what is left of it, in a folder.

    workers : processes on this machine, or a Dask cluster; the same plan gives the same numbers on any of them
    progress : ``progress(done, of)`` hears of every unit
    """
    folder = Path(folder)
    check_workers(workers)
    data, options = located(plan.data, plan.options)
    plan = plan._replace(data=data, options=options)
    material = open_material(plan)
    _check_methods(plan, material)
    check_place(folder)
    with sole_writer(folder):
        begin(folder, plan, material)
        clear_remains(folder)
        _do_all(folder, plan, material, workers, progress)
        write_manifest(folder, KIND, passing=pages(folder))
    return Comparison(folder)


def _do_all(
    folder: Path, plan: Plan, material: Material, workers: int | Cluster, progress: Callable[[int, int], None]
) -> None:
    def left() -> list[Todo]:
        return [
            Todo(method, number)
            for number, split in enumerate(material.splits)
            for method in plan.methods
            if not unit_path(folder, method, split.repeat, split.fold).exists()
        ]

    def name(todo: Todo) -> str:
        split = material.splits[todo.split]
        return f"{todo.method} on fold {split.fold} of repeat {split.repeat}"

    total = len(plan.methods) * len(material.splits)
    progress(total - len(left()), total)
    for unit in work(partial(_do, plan, material), left, workers, name):
        write_json(unit_path(folder, unit["method"], unit["repeat"], unit["fold"]), unit)
        progress(total - len(left()), total)


def _check_methods(plan: Plan, material: Material) -> None:
    """Refuse methods that know two classes only, before anything is fitted."""
    n_classes = len(np.unique(material.labels))
    unable = [name for name in plan.methods if not get_tags(build(plan, name)).classifier_tags.multi_class]
    if n_classes > 2 and unable:
        raise InputError(f"'{plan.data}' has {n_classes} classes, and {', '.join(unable)} know two; leave them out")


def _do(plan: Plan, material: Material, todo: Todo) -> dict[str, Any]:
    split = material.splits[todo.split]
    estimator = build(plan, todo.method)
    unit = judge_split(estimator, material.bags, material.labels, split, plan.seed, peeking=plan.peeking)
    return {"method": todo.method, **unit}
