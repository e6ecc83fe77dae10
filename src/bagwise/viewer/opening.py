"""What a path means to the viewer: a run's folder, a folder of runs, or a run's report."""

import warnings
from pathlib import Path

from bagwise.errors import InputError
from bagwise.files import MANIFEST, read_json, recover
from bagwise.runs import Run
from bagwise.runs.run import KIND

DEPTH = 3  # runs/first, runs/colon/attention and runs/colon/attention/fold-1 are found below runs


def open_runs(path: Path) -> dict[str, Run]:
    """The runs of a path by the names that the viewer shows, in the order of these names."""
    recover(path)
    folder = path.parent if path.is_file() and path.suffix.lower() == ".html" else path
    if not folder.is_dir():
        raise InputError(f"{path} is neither a folder nor a report; give a run's folder, or a folder of runs")
    if _is_run(folder) or (folder / "parameters.json").exists():  # one that is not finished says how to go on
        return {folder.resolve().name: Run(folder)}
    found, problems = _open_below(folder)
    if not found:
        none = f"{folder} holds no finished run; make one with: bagwise train digits runs/first"
        raise InputError(problems[0] if problems else none)
    for problem in problems:
        warnings.warn(f"left out: {problem}", stacklevel=2)
    return found


def _open_below(folder: Path) -> tuple[dict[str, Run], list[str]]:
    """The runs below a folder, and what is wrong with those that cannot be opened."""
    found, problems = {}, []
    for below in _sealed_below(folder):
        try:
            if _is_run(below):
                found[below.relative_to(folder).as_posix()] = Run(below)
        except InputError as error:
            problems.append(str(error))
    return found, problems


def _sealed_below(folder: Path) -> list[Path]:
    levels = ("/".join(["*"] * depth + [MANIFEST]) for depth in range(1, DEPTH + 1))
    return sorted(manifest.parent for level in levels for manifest in folder.glob(level))


def _is_run(folder: Path) -> bool:
    if not (folder / MANIFEST).is_file():
        return False
    manifest = read_json(folder / MANIFEST)
    return isinstance(manifest, dict) and manifest.get("kind") == KIND
