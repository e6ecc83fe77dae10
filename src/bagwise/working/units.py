"""Units over a shared folder: each makes one file, whole or not there, and any number of processes share them.

    TARGET           is there when the unit is done
    NAME.claim       beside it: who works on it, while it is worked on
    .TARGET.draft    the file under way; one a unit, so that a killed process leaves nothing behind for good

A unit is done before, done now, in the hands of another process, or bad. Those elsewhere are visited once more at the
end: by then they are done, or their process died; so the last of many commands finds all done.
"""

import contextlib
import os
import socket
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from bagwise.claims import claimed, owner
from bagwise.errors import InputError
from bagwise.files import naming
from bagwise.working.cluster import Cluster
from bagwise.working.pieces import check_workers, work

Result = TypeVar("Result")


class Unit(NamedTuple):
    """A piece of work whose result is one file."""

    name: str
    target: Path
    of: Any = None  # what it is made of

    @property
    def claim(self) -> Path:
        return self.target.with_name(f"{self.name}.claim")

    @property
    def draft(self) -> Path:
        return self.target.with_name(f".{self.target.stem}.draft")


class Shared(NamedTuple):
    """What became of each unit, in the order in which they were given."""

    done: list[str]
    skipped: list[str]  # done before
    elsewhere: dict[str, str]  # in the hands of another process, and whose
    bad: dict[str, str]  # and why


class Fate(NamedTuple):
    """What became of one: a field of ``Shared``, and the owner or the reason."""

    kind: str
    words: str = ""


Write = Callable[[Unit, BinaryIO], None]


def share(
    units: Sequence[Unit],
    write: Write,
    workers: int | Cluster = 1,
    *,
    skip_bad: bool = False,
    ready: Callable[[], None] = lambda: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Shared:
    """Do every unit that is neither done nor in the hands of another process.

    write : writes a unit's result to a stream; an ``InputError`` says that the unit is bad
    skip_bad : go on after a bad unit; without it the first one that is heard of ends the work
    ready : raises an ``InputError`` where a process lacks what any unit needs; that is no fault of a unit
    """
    check_workers(workers)
    fates = {unit.name: Fate("skipped") for unit in units if unit.target.exists()}
    settled = len(fates)
    try:
        for _ in range(2):
            with contextlib.closing(each(partial(_visit, write, ready), _open(units, fates), workers)) as visits:
                for name, fate in visits:
                    fates[name] = fate
                    settled += fate.kind != "elsewhere"
                    progress(settled, len(units))
                    if fate.kind == "bad" and not skip_bad:
                        return _shared(units, fates)
    finally:
        _sweep(_open(units, fates))
    return _shared(units, fates)


def each(
    do: Callable[[Unit], tuple[str, Result]], units: Sequence[Unit], workers: int | Cluster
) -> Generator[tuple[str, Result], None, None]:
    """What ``do`` gives for each unit, after the unit's name, in any order; a worker that dies loses nothing."""
    heard: set[str] = set()

    def left() -> list[Unit]:
        return [unit for unit in units if unit.name not in heard]

    if units:  # else no process needs to be started
        for name, result in work(do, left, workers, lambda unit: unit.name):
            heard.add(name)
            yield name, result


def check_seen(*folders: Path) -> None:
    """Whether a process sees the folders that all share; one on another machine may not."""
    for folder in folders:
        if not folder.is_dir():
            raise InputError(
                f"{folder} is not seen by a worker on {socket.gethostname()}; workers on other machines need the "
                "folders on a disk that all share, under the same path"
            )


def _visit(write: Write, ready: Callable[[], None], unit: Unit) -> tuple[str, Fate]:
    if unit.target.exists():
        return unit.name, Fate("skipped")
    ready()
    with claimed(unit.claim) as mine:
        if not mine:
            return unit.name, Fate("elsewhere", owner(unit.claim))
        if unit.target.exists():  # another process finished it just before the claim
            return unit.name, Fate("skipped")
        try:
            with _whole(unit) as stream:
                write(unit, stream)
        except InputError as mistake:
            return unit.name, Fate("bad", str(mistake))
    return unit.name, Fate("done")


@contextlib.contextmanager
def _whole(unit: Unit) -> Iterator[BinaryIO]:
    """Like ``files.atomic``, but with one draft a unit; no memory map: on a full disk it ends the process."""
    try:
        with naming(unit.target, unit.draft), unit.draft.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        unit.draft.replace(unit.target)
    finally:
        unit.draft.unlink(missing_ok=True)


def _sweep(units: Sequence[Unit]) -> None:
    """Remove what workers left that were ended in the middle of their units."""
    for unit in units:
        if unit.claim.exists():
            with claimed(unit.claim) as mine:
                if mine:
                    unit.draft.unlink(missing_ok=True)


def _open(units: Sequence[Unit], fates: dict[str, Fate]) -> list[Unit]:
    """The units that are not done, nor bad."""
    return [unit for unit in units if unit.name not in fates or fates[unit.name].kind == "elsewhere"]


def _shared(units: Sequence[Unit], fates: dict[str, Fate]) -> Shared:
    def those(kind: str) -> dict[str, str]:
        known = [(unit.name, fates[unit.name]) for unit in units if unit.name in fates]
        return {name: fate.words for name, fate in known if fate.kind == kind}

    return Shared([*those("done")], [*those("skipped")], those("elsewhere"), those("bad"))
