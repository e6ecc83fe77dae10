"""Claims: which process works on what, so that several may share a folder of slides, and none a run.

A claim is a file that only one process can create; it names its owner. The owner also holds a lock on it, which the
system lets go when the owner dies, however it dies: a claim of this machine whose lock is free is dead and is taken
over. Claims of other machines are left alone, because not every shared disk passes locks on; there, and on a disk
without locks, a dead claim stays until someone removes it.
"""

import contextlib
import json
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from bagwise.drafts import is_draft
from bagwise.errors import InputError
from bagwise.locks import try_lock

CLAIM = ".claim"  # hidden, so that no manifest lists it


@contextlib.contextmanager
def claimed(path: Path) -> Iterator[bool]:
    """Claim something for the time of the block; False if it belongs to another process.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "slide.claim"
    >>> with claimed(path) as mine, claimed(path) as mine_too:
    ...     print(mine, mine_too)
    True False
    >>> path.exists()
    False
    """
    handle = _take(path)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            path.unlink(missing_ok=True)  # before the lock goes, so that nobody takes a claim that is about to end
            os.close(handle)


@contextlib.contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Write in a folder as the only process; a second one is told who the first is.

    The folder is made for the claim; if nothing was written when the block ends, it is not there afterwards either.
    """
    claim, made = folder / CLAIM, [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        with claimed(claim) as mine:
            if not mine:
                raise InputError(
                    f"{folder} is being written by {owner(claim)}; wait for it to end, or choose another folder "
                    f"(if that process is no more, delete {claim})"
                )
            yield
    finally:
        with contextlib.suppress(OSError):  # a folder that holds something stays
            for place in made:
                place.rmdir()


def is_unused(folder: Path) -> bool:
    """Whether something new may be begun in a folder: it holds nothing but what a killed process left."""
    if not folder.exists():
        return True
    return folder.is_dir() and all(is_draft(path) or path.name == CLAIM for path in folder.iterdir())


def clear_remains(folder: Path) -> None:
    """Remove what killed processes left half-written below a folder of which this process is the only writer."""
    for path in [path for path in folder.rglob("*") if is_draft(path)]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def owner(path: Path) -> str:
    """Who holds a claim, for a message."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return f"process {content['pid']} on {content['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _take(path: Path) -> int | None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle, fresh = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), True
    except FileExistsError:
        try:
            handle, fresh = os.open(path, os.O_RDWR), False
        except FileNotFoundError:  # it ended just now
            return None
    held = try_lock(handle)
    if (fresh if held is None else held) and (fresh or _is_dead(path, handle)):
        _sign(path, handle)
        return handle
    os.close(handle)
    return None


def _sign(path: Path, handle: int) -> None:
    try:
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode())
    except OSError as error:  # a full disk: no claim without a name is left behind
        path.unlink(missing_ok=True)
        os.close(handle)
        raise OSError(error.errno, error.strerror, str(path)) from None


def _is_dead(path: Path, handle: int) -> bool:
    """Whether a claim whose lock is ours now was left by a dead process of this machine."""
    try:
        if os.fstat(handle).st_ino != path.stat().st_ino:  # its owner ended it between our opening and locking it
            return False
    except FileNotFoundError:
        return False
    content = os.read(handle, 4096)
    try:
        return bool(json.loads(content)["host"] == socket.gethostname())
    except (ValueError, KeyError, TypeError):
        return True  # its owner died before it could write its name
