"""Running a comparison: every unit that is not yet written, over several processes, each written when it is done."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed

from bagwise.bags import fingerprint
from bagwise.comparing.comparison import KIND, PLAN, UNITS, Comparison, unit_path
from bagwise.comparing.plan import Material, Plan, build, open_material
from bagwise.errors import InputError
from bagwise.evaluation.cross_validation import judge_split
from bagwise.files import MANIFEST, is_draft, read_json, write_json, write_manifest
from bagwise.runs import describe_environment
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
    data, options = located(plan.data, plan.options)
    plan = plan._replace(data=data, options=options)
    material = open_material(plan)
    _begin(folder, plan, material)
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
    write_manifest(folder, KIND, passing=_pages(folder))
    return Comparison(folder)


def _begin(folder: Path, plan: Plan, material: Material) -> None:
    """Write down what is compared, or see that it is what was begun here."""
    wanted: dict[str, Any] = {"plan": plan._asdict(), "bags": fingerprint(material.bags, material.labels)}
    stored = folder / PLAN
    if stored.exists():
        begun = read_json(stored)
        for part in ("plan", "bags"):
            if not isinstance(begun, dict) or begun.get(part) != wanted[part]:
                raise InputError(
                    f"{folder} holds a comparison of other {'methods, data or folds' if part == 'plan' else 'bags'}; "
                    "repeat the first command to go on with it, or choose a new folder"
                )
        return
    if folder.exists() and (not folder.is_dir() or not all(map(is_draft, folder.iterdir()))):
        raise InputError(f"{folder} exists and is not a comparison; choose a new folder")
    write_json(stored, wanted)
    write_json(folder / "environment.json", describe_environment())


def _do(folder: Path, plan: Plan, material: Material, todo: Todo) -> None:
    split = material.splits[todo.split]
    unit = judge_split(build(plan, todo.method), material.bags, material.labels, split, plan.seed)
    write_json(unit_path(folder, todo.method, split.repeat, split.fold), {"method": todo.method, **unit})


def _pages(folder: Path) -> set[str]:
    """What is made from the units, and made again at will."""
    kept = {MANIFEST, PLAN, "environment.json"}
    return {
        path.name for path in folder.iterdir() if path.is_file() and path.name not in kept and path.parent.name != UNITS
    }
