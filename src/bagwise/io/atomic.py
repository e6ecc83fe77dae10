"""Atomic writing: a file or folder appears complete at its path, or not at all.

Content is written under a temporary name in the same folder, flushed to disk, and renamed. The name of a temporary
folder identifies the path and the machine for which it is written, and its writer holds a lock on it. A killed process
cannot remove its temporary folder, which may contain gigabytes: the next process that writes to the same path removes
every such folder that is not locked.
"""

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from bagwise.errors import InputError
from bagwise.io.exchange import exchange_folders
from bagwise.io.locking import LOCK_FILE, is_locked, lock_path, try_lock

MANIFEST = "manifest.json"
TEMPORARY_PREFIX = ".tmp-"
REPLACED_PREFIX = f"{TEMPORARY_PREFIX}old-"
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors that only writing raises


# Temporary names


def make_temporary_path(path: Path, prefix: str = TEMPORARY_PREFIX) -> Path:
    """Return a new hidden path in the same folder, hence on the same disk, where a rename is atomic."""
    return path.parent / f"{prefix}{secrets.token_hex(8)}"


def get_temporary_prefix(path: Path) -> str:
    """Return the prefix of the temporary folders that processes on this machine create for a path."""
    owner = f"{socket.gethostname()}/{path.name}"
    return f"{TEMPORARY_PREFIX}{hashlib.sha256(owner.encode()).hexdigest()[:12]}-"


def is_temporary(path: Path) -> bool:
    return path.name.startswith(TEMPORARY_PREFIX)


def is_unused_folder(folder: Path) -> bool:
    """Return whether a folder is missing, or contains only temporary files and locks of killed processes.

    Parameters
    ----------
    folder : Path
        Path of the folder.

    Returns
    -------
    bool
    """
    if not folder.exists():
        return True
    return folder.is_dir() and all(is_temporary(path) or path.name == LOCK_FILE for path in folder.iterdir())


def remove_temporary_files(folder: Path) -> None:
    """Remove the temporary files of killed processes from a folder and its subfolders.

    No other process may write to the folder at the same time.

    Parameters
    ----------
    folder : Path
        Folder to clean; it may be missing.
    """
    for path in [path for path in folder.rglob("*") if is_temporary(path)]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


# Atomic files


@contextlib.contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Write a file atomically.

    Parameters
    ----------
    path : Path
        Path of the file. Missing parent folders are created.

    Yields
    ------
    Path
        Temporary path to write to. If the block succeeds, the file is moved to ``path``; otherwise it is removed.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with write_atomically(target) as temporary:
    ...     _ = temporary.write_text("complete")
    >>> target.read_text()
    'complete'
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file's path")
    temporary = make_temporary_path(path)
    with create_parent_folder(path), name_path_in_errors(path, temporary):
        try:
            yield temporary
            _sync(temporary)
            temporary.replace(path)
            _sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def name_path_in_errors(path: Path, temporary: Path) -> Iterator[None]:
    """Set the file name of operating system errors raised in the block to the final path.

    Otherwise they name the temporary path, or no path at all if the disk is full.

    Parameters
    ----------
    path : Path
        Final path of the file or folder.
    temporary : Path
        Temporary path that is written in the block.
    """
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL or temporary.name in str(error.filename):
            error.filename = str(path)
        raise


@contextlib.contextmanager
def create_parent_folder(path: Path) -> Iterator[None]:
    """Create the missing parent folders of a path; if the block fails, remove those that are still empty."""
    created = [folder for folder in path.parents if not folder.exists()]
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(
                f"{path} cannot be written: {path.parent} is a file or below a file; give another path"
            ) from None
        yield
    except BaseException:
        for folder in created:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _sync(path: Path) -> None:
    """Flush a file or a folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# Atomic folders


@contextlib.contextmanager
def write_folder_atomically(path: Path, kind: str | None = None) -> Iterator[Path]:
    """Write a folder atomically; an existing folder is replaced.

    Parameters
    ----------
    path : Path
        Path of the folder. Missing parent folders are created.
    kind : str or None, default=None
        Kind that the manifest of an existing folder must have, unless the folder is empty, so that no other files are
        lost; None replaces any folder.

    Yields
    ------
    Path
        Temporary folder to write to. If the block succeeds, it is moved to ``path``; otherwise it is removed.

    Raises
    ------
    InputError
        If ``path`` is a file, a link, a folder of another kind, or contains the current working directory, or if
        another process is writing it.
    """
    path = Path(path)
    recover_folder(path)
    if path.is_symlink() or path.is_file():
        raise InputError(f"{path} is a file or a symbolic link; choose another folder")
    if Path.cwd().is_relative_to(path.resolve()):
        raise InputError(
            f"'{path}' is or contains the current working directory and would be replaced; give another path"
        )
    if kind is not None and path.exists() and any(path.iterdir()) and _read_kind(path) != kind:
        raise InputError(f"{path} contains other files; choose a new folder")
    temporary, lock = make_temporary_path(path, get_temporary_prefix(path)), _get_lock(path)
    with (
        create_parent_folder(path),
        name_path_in_errors(path, temporary),
        name_path_in_errors(path, lock),
        lock_path(path, lock),
        hold_temporary_folder(temporary),
    ):
        remove_abandoned_folders(path)
        yield temporary
        for file in temporary.rglob("*"):
            _sync(file)
        _sync(temporary)
        _move_into_place(temporary, path)
        _sync(path.parent)


@contextlib.contextmanager
def hold_temporary_folder(temporary: Path) -> Iterator[None]:
    """Create a folder, hold a lock on it during the block, and remove it at the end unless it was moved.

    The folder is renamed to ``temporary`` after it is locked, so that no other process finds it unlocked at that path.
    """
    unlocked, handle = temporary.with_name(f"{TEMPORARY_PREFIX}new{temporary.name}"), None
    try:
        unlocked.mkdir()
        handle = _open_folder(unlocked)
        if handle is not None:
            try_lock(handle)
        unlocked.replace(temporary)
        yield
    finally:
        for folder in (unlocked, temporary):
            shutil.rmtree(folder, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def remove_abandoned_folders(path: Path) -> None:
    """Remove the temporary folders that killed processes of this machine left behind for a path."""
    for temporary in path.parent.glob(f"{get_temporary_prefix(path)}*"):
        handle = _open_folder(temporary)
        if handle is not None:
            if try_lock(handle):
                shutil.rmtree(temporary, ignore_errors=True)
            os.close(handle)


def recover_folder(path: Path) -> None:
    """Restore a folder whose replacement was interrupted after it was moved aside.

    Parameters
    ----------
    path : Path
        Path of the folder; nothing is done if it exists.
    """
    path = Path(path)
    if not (path.exists() or path.is_symlink() or is_being_replaced(path)):
        _restore_folder(path)


def is_being_replaced(path: Path) -> bool:
    """Return whether a process is writing a folder, which may be missing for a moment."""
    return is_locked(_get_lock(path))


def _get_lock(path: Path) -> Path:
    return path.parent / f"{TEMPORARY_PREFIX}lock-{hashlib.sha256(path.name.encode()).hexdigest()[:12]}"


def _restore_folder(path: Path) -> None:
    if path.exists():
        return
    asides = [aside for aside in path.parent.glob(f"{REPLACED_PREFIX}*") if (aside / path.name).is_dir()]
    if asides:
        newest = max(asides, key=lambda aside: aside.stat().st_mtime_ns)
        (newest / path.name).replace(path)
        newest.rmdir()


def _read_kind(folder: Path) -> str | None:
    """Return the kind in the manifest of a folder; None if there is no valid manifest."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest.get("kind") if isinstance(manifest, dict) else None


def _move_into_place(temporary: Path, path: Path) -> None:
    if not path.exists():
        temporary.replace(path)
        return
    if exchange_folders(temporary, path):
        shutil.rmtree(temporary, ignore_errors=True)  # the old folder
        return
    aside, old = make_temporary_path(path, REPLACED_PREFIX), make_temporary_path(path, get_temporary_prefix(path))
    try:
        aside.mkdir()
        path.replace(aside / path.name)
        temporary.replace(path)
        _discard(aside, old)
    finally:
        _restore_folder(path)
        if path.exists():  # an interruption may have prevented the removal of the old folder
            _discard(aside, old)


def _discard(aside: Path, old: Path) -> None:
    if aside.exists():
        aside.replace(old)  # from now on, recover_folder ignores it
    shutil.rmtree(old, ignore_errors=True)


def _open_folder(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    except (OSError, AttributeError):  # it was removed in the meantime, or the system cannot open folders
        return None
