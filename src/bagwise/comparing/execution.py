"""Running a comparison: every unit that is not yet written, over several processes, each written when it is done."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import get_tags

from bagwise.comparing.beginning import begin
from bagwise.comparing.comparison import KIND, Comparison, pages, unit_path
from bagwise.comparing.plan import Material, Plan, build, open_material
from bagwise.errors import InputError
from bagwise.evaluation.cross_validation import judge_split
from bagwise.files import write_json, write_manifest
from bagwise.quantities import whole_number
from bagwise.sources import located


class Todo(NamedTuple):
    """A unit to do: a method, and the number of its split."""

    method: str
    split: int


def compare(
    folder: str | Path, plan: Plan, *, workers: int = 1, progress: Callable[[int, int], None] = lambda done, of: None
) -> Comparison:
    """Run a comparison, or what is left of it, in a folder.

    The same plan gives the same numbers on any number of workers. ``progress(done, of)`` hears of every unit.
    """
    folder = Path(folder)
    whole_number("workers", workers, least=1)
    data, options = located(plan.data, plan.options)
    plan = plan._replace(data=data, options=options)
    material = open_material(plan)
    _check_methods(plan, material)
    begin(folder, plan, material)
    todo = [
        Todo(method, number)
        for number, split in enumerate(material.splits)
        for method in plan.methods
        if not unit_path(folder, method, split.repeat, split.fold).exists()
    ]
    total = len(plan.methods) * len(material.splits)
    progress(total - len(todo), total)
    jobs = (delayed(_do)(folder, plan, material, unit) for unit in todo)
    for done, _ in enumerate(Parallel(n_jobs=workers, return_as="generator_unordered")(jobs), start=1):
        progress(total - len(todo) + done, total)
    write_manifest(folder, KIND, passing=pages(folder))
    return Comparison(folder)


def _check_methods(plan: Plan, material: Material) -> None:
    """Refuse methods that know two classes only, before anything is fitted."""
    n_classes = len(np.unique(material.labels))
    unable = [name for name in plan.methods if not get_tags(build(plan, name)).classifier_tags.multi_class]
    if n_classes > 2 and unable:
        raise InputError(f"'{plan.data}' has {n_classes} classes, and {', '.join(unable)} know two; leave them out")


def _do(folder: Path, plan: Plan, material: Material, todo: Todo) -> None:
    split = material.splits[todo.split]
    estimator = build(plan, todo.method)
    unit = judge_split(estimator, material.bags, material.labels, split, plan.seed, peeking=plan.peeking)
    write_json(unit_path(folder, todo.method, split.repeat, split.fold), {"method": todo.method, **unit})
