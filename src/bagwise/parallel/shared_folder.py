"""Units of work in a shared folder: each unit produces one file, and any number of processes share the units.

    TARGET           exists when the unit is done
    NAME.lock        lock file in the same folder; records which process works on the unit
    .TARGET.tmp      temporary file; its name is fixed, so that the next process replaces the file of a killed process

A unit is already done, done now, locked by another process, or bad. Locked units are tried once more at the end: by
then they may be done, or their process may have died. The last of several commands thus finds all units done.
"""

import contextlib
import os
import socket
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypeVar

from bagwise.errors import InputError
from bagwise.io import describe_owner, hold_lock, name_path_in_errors
from bagwise.parallel.dask_cluster import DaskCluster
from bagwise.parallel.workers import check_workers, run_tasks

Result = TypeVar("Result")


class WorkUnit(NamedTuple):
    """A unit of work that produces one file.

    Attributes
    ----------
    name : str
        Unique name of the unit.
    target : Path
        Path of the file that the unit produces.
    of : object, default=None
        Input from which the file is produced.
    """

    name: str
    target: Path
    of: Any = None

    @property
    def lock(self) -> Path:
        """Path of the lock file."""
        return self.target.with_name(f"{self.name}.lock")

    @property
    def temporary(self) -> Path:
        """Path of the temporary file."""
        return self.target.with_name(f".{self.target.stem}.tmp")


class ProcessedUnits(NamedTuple):
    """Names of the units by outcome, in the order in which the units were given.

    Attributes
    ----------
    done : list of str
        Units that were processed by this call.
    skipped : list of str
        Units that were already done.
    elsewhere : dict of str to str
        Units that another process has locked, with a description of that process.
    bad : dict of str to str
        Units that failed, with the error message.
    """

    done: list[str]
    skipped: list[str]
    elsewhere: dict[str, str]
    bad: dict[str, str]


class UnitOutcome(NamedTuple):
    """Outcome of one unit: a field of ``ProcessedUnits``, and the owner of the lock or the error message."""

    kind: Literal["done", "skipped", "elsewhere", "bad"]
    detail: str = ""


UnitWriter = Callable[[WorkUnit, BinaryIO], None]


def process_units(
    units: Sequence[WorkUnit],
    write: UnitWriter,
    workers: int | DaskCluster = 1,
    *,
    skip_bad: bool = False,
    ready: Callable[[], None] = lambda: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ProcessedUnits:
    """Process every unit that is neither done nor locked by another process.

    Parameters
    ----------
    units : sequence of WorkUnit
        Units of work.
    write : callable
        Function that writes the result of a unit to a binary stream; an ``InputError`` marks the unit as bad.
    workers : int or DaskCluster, default=1
        Number of processes on this machine, or a cluster.
    skip_bad : bool, default=False
        Whether to continue after a bad unit; otherwise the first bad unit ends the work.
    ready : callable, optional
        Called before each unit in the process that runs it. It raises an ``InputError`` if that process lacks what
        every unit needs; this ends the work and does not mark a unit as bad.
    progress : callable, optional
        Called with the number of finished units and the total.

    Returns
    -------
    ProcessedUnits
        Names of the units by outcome.
    """
    check_workers(workers)
    outcomes = {unit.name: UnitOutcome("skipped") for unit in units if unit.target.exists()}
    n_finished = len(outcomes)
    process = partial(_process_unit, write, ready)
    try:
        for _ in range(2):
            with contextlib.closing(map_units(process, _get_open(units, outcomes), workers)) as results:
                for name, outcome in results:
                    outcomes[name] = outcome
                    n_finished += outcome.kind != "elsewhere"
                    progress(n_finished, len(units))
                    if outcome.kind == "bad" and not skip_bad:
                        return _collect(units, outcomes)
    finally:
        _remove_leftovers(_get_open(units, outcomes))
    return _collect(units, outcomes)


def map_units(
    function: Callable[[WorkUnit], tuple[str, Result]], units: Sequence[WorkUnit], workers: int | DaskCluster
) -> Generator[tuple[str, Result], None, None]:
    """Apply a function to every unit; the units of a worker that dies are repeated.

    Parameters
    ----------
    function : callable
        Function that returns the name of a unit and its result; it must be picklable.
    units : sequence of WorkUnit
        Units of work.
    workers : int or DaskCluster
        Number of processes on this machine, or a cluster.

    Yields
    ------
    tuple of (str, object)
        Name and result of each unit, in any order.
    """
    finished: set[str] = set()

    def get_remaining() -> list[WorkUnit]:
        return [unit for unit in units if unit.name not in finished]

    if units:  # otherwise no process needs to start
        for name, result in run_tasks(function, get_remaining, workers, lambda unit: unit.name):
            finished.add(name)
            yield name, result


def check_files_visible(*folders: Path) -> None:
    """Check that this process, which may run on another machine, has access to shared folders.

    Parameters
    ----------
    *folders : Path
        Folders that must exist.

    Raises
    ------
    InputError
        If a folder is missing.
    """
    for folder in folders:
        if not folder.is_dir():
            raise InputError(
                f"{folder} is not visible to a worker on {socket.gethostname()}; put it on a disk that all share, "
                "under the same path on every machine"
            )


def _process_unit(write: UnitWriter, ready: Callable[[], None], unit: WorkUnit) -> tuple[str, UnitOutcome]:
    if unit.target.exists():
        return unit.name, UnitOutcome("skipped")
    ready()
    with hold_lock(unit.lock) as is_owner:
        if not is_owner:
            return unit.name, UnitOutcome("elsewhere", describe_owner(unit.lock))
        if unit.target.exists():  # another process finished it before this one acquired the lock
            return unit.name, UnitOutcome("skipped")
        try:
            with _open_target(unit) as stream:
                write(unit, stream)
        except InputError as error:
            return unit.name, UnitOutcome("bad", str(error))
    return unit.name, UnitOutcome("done")


@contextlib.contextmanager
def _open_target(unit: WorkUnit) -> Iterator[BinaryIO]:
    """Write a target atomically, as ``write_atomically`` does, but with a fixed temporary path for each unit.

    It yields a stream instead of a path, because writing to a memory map kills the process if the disk is full.
    """
    try:
        with name_path_in_errors(unit.target, unit.temporary), unit.temporary.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        unit.temporary.replace(unit.target)
    finally:
        unit.temporary.unlink(missing_ok=True)


def _remove_leftovers(units: Sequence[WorkUnit]) -> None:
    """Remove the lock files and temporary files of workers that were terminated while they processed a unit."""
    for unit in units:
        if unit.lock.exists():
            with hold_lock(unit.lock) as is_owner:
                if is_owner:
                    unit.temporary.unlink(missing_ok=True)


def _get_open(units: Sequence[WorkUnit], outcomes: dict[str, UnitOutcome]) -> list[WorkUnit]:
    """Return the units that are neither done nor bad."""
    return [unit for unit in units if unit.name not in outcomes or outcomes[unit.name].kind == "elsewhere"]


def _collect(units: Sequence[WorkUnit], outcomes: dict[str, UnitOutcome]) -> ProcessedUnits:
    def details(kind: str) -> dict[str, str]:
        known = [(unit.name, outcomes[unit.name]) for unit in units if unit.name in outcomes]
        return {name: outcome.detail for name, outcome in known if outcome.kind == kind}

    return ProcessedUnits(
        done=[*details("done")],
        skipped=[*details("skipped")],
        elsewhere=details("elsewhere"),
        bad=details("bad"),
    )
