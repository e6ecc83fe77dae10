"""Lock files: several processes share a folder of slides, but only one works on a slide or writes a run at a time.

A lock is a file that only one process can create; it records the owner. The owner also holds an operating system lock
(``flock``) on the file, which the system releases when the owner ends, even if it is killed. If the ``flock`` on a lock
file of this machine is free, its owner is dead, and the lock is taken over. Lock files of other machines are never
taken over, because some network file systems do not share ``flock`` between machines. There, and on a disk without
``flock``, the lock file of a dead process must be deleted by hand.
"""

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from bagwise.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK_FILE = ".lock"  # hidden, so that no manifest lists it


@contextlib.contextmanager
def hold_lock(path: Path) -> Iterator[bool]:
    """Try to acquire a lock, and hold it during the block.

    Parameters
    ----------
    path : Path
        Path of the lock file. Missing parent folders are created.

    Yields
    ------
    bool
        True if this process holds the lock, False if another one does.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "slide.lock"
    >>> with hold_lock(path) as first, hold_lock(path) as second:
    ...     print(first, second)
    True False
    >>> path.exists()
    False
    """
    handle = _acquire(path)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            path.unlink(missing_ok=True)  # while the flock is held, so that no process takes over this lock
            os.close(handle)


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder during the block, so that only one process writes to it.

    A missing folder is created for the lock file, and removed if nothing was written to it.

    Parameters
    ----------
    folder : Path
        Folder to lock.

    Raises
    ------
    InputError
        If another process holds the lock; the message names that process.
    """
    lock, created = folder / LOCK_FILE, [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        with hold_lock(lock) as is_owner:
            if not is_owner:
                raise InputError(
                    f"{folder} is being written by {describe_owner(lock)}; wait until it has finished, or choose "
                    f"another folder (if that process no longer exists, delete {lock})"
                )
            yield
    finally:
        with contextlib.suppress(OSError):  # folders that are not empty are kept
            for path in created:
                path.rmdir()


@contextlib.contextmanager
def lock_path(path: Path, lock: Path) -> Iterator[None]:
    """Hold a lock file for a path during the block, so that only one process writes it.

    Parameters
    ----------
    path : Path
        Path to be written, for the error message.
    lock : Path
        Path of the lock file.

    Raises
    ------
    InputError
        If another process holds the lock; the message names that process.
    """
    with hold_lock(lock) as is_owner:
        if not is_owner:
            raise InputError(
                f"{path} is being written by {describe_owner(lock)}; wait until it has finished, or choose another "
                f"path (if that process no longer exists, delete {lock})"
            )
        yield


def is_locked(path: Path) -> bool:
    """Return whether a process holds a lock; without ``flock``, whether there is a lock file."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not try_lock(handle)
    finally:
        os.close(handle)


def describe_owner(path: Path) -> str:
    """Describe the process that holds a lock, for a message.

    Parameters
    ----------
    path : Path
        Path of the lock file.

    Returns
    -------
    str
        For example "process 1234 on host"; "another process" if the file cannot be read.
    """
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
        return f"process {owner['pid']} on {owner['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def try_lock(handle: int) -> bool | None:
    """Try to take the ``flock`` of an open file or folder; return whether it succeeded, or None without ``flock``.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> [try_lock(os.open(folder, os.O_RDONLY)) for _ in range(2)]
    [True, False]
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk without flock
        return None
    return True


def _acquire(path: Path) -> int | None:
    """Create a lock file or take over that of a dead process; return its handle, or None if it has an owner."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle, is_new = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), True
    except FileExistsError:
        try:
            handle, is_new = os.open(path, os.O_RDWR), False
        except FileNotFoundError:  # released between the two calls
            return None
    has_flock = try_lock(handle)
    if (is_new if has_flock is None else has_flock) and (is_new or _is_abandoned(path, handle)):
        _write_owner(path, handle)
        return handle
    os.close(handle)
    return None


def _write_owner(path: Path, handle: int) -> None:
    try:
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode())
    except OSError as error:  # for example a full disk: leave no lock file without an owner
        path.unlink(missing_ok=True)
        os.close(handle)
        raise OSError(error.errno, error.strerror, str(path)) from None


def _is_abandoned(path: Path, handle: int) -> bool:
    """Return whether a lock file, whose ``flock`` this process now holds, is of a dead process of this machine."""
    try:
        if os.fstat(handle).st_ino != path.stat().st_ino:  # released after it was opened and before it was locked
            return False
    except FileNotFoundError:
        return False
    content = os.read(handle, 4096)
    try:
        return bool(json.loads(content)["host"] == socket.gethostname())
    except (ValueError, KeyError, TypeError):
        return True  # the owner died before it was recorded
