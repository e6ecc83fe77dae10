"""Checks before anything is computed: whether a file exists or can be written, and whether the disk has free space."""

import contextlib
import shutil
from pathlib import Path

from bagwise.errors import InputError
from bagwise.io.atomic import create_parent_folder, make_temporary_path, name_path_in_errors


def check_file_exists(path: Path, fix: str = "check the path") -> None:
    """Check that a path is a file that can be opened.

    Parameters
    ----------
    path : Path
        Path of the file.
    fix : str, default="check the path"
        What the user should do if it is not.

    Raises
    ------
    InputError
        If there is no such file, or the path is a folder.

    Examples
    --------
    >>> check_file_exists(Path("tabel.csv"))
    Traceback (most recent call last):
    bagwise.errors.InputError: no such file: tabel.csv; check the path
    """
    if not path.exists():
        raise InputError(f"no such file: {path}; {fix}")
    if not path.is_file():
        raise InputError(f"{path} is not a file; {fix}")


def check_disk_space(path: Path, n_bytes: int) -> None:
    """Check that the disk of a path has enough free space.

    Parameters
    ----------
    path : Path
        Path that will be written; it may be missing.
    n_bytes : int
        Number of bytes that will be written.
    """
    path = Path(path)
    existing = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    if n_bytes > free:
        raise InputError(
            f"{path} needs {n_bytes:,} bytes, but only {free:,} are free on its disk; free some disk space or "
            "choose another disk"
        )


def check_writable(path: Path) -> None:
    """Check that a file can be written, before its content is computed; raise the error that writing would raise.

    Parameters
    ----------
    path : Path
        Path of the file; nothing is left there.
    """
    path = Path(path)
    temporary = make_temporary_path(path)
    with contextlib.suppress(_Undo), create_parent_folder(path), name_path_in_errors(path, temporary):
        temporary.touch()
        temporary.unlink()
        raise _Undo


class _Undo(Exception):  # noqa: N818 (not an error: it makes create_parent_folder remove the folders that it created)
    pass
