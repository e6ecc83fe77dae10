"""Folders that are opened once, so that files of two versions are never combined if the folder is replaced meanwhile.

A folder is replaced as a whole, by a rename. An open folder stays the same folder: its files are opened relative to its
handle, and an open file keeps its content after it was removed. Only a file that is opened too late may be missing.
Then another folder is at the path, and reading starts again with it.
"""

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

from bagwise.errors import InputError
from bagwise.io.atomic import is_being_replaced, recover_folder

MAX_ATTEMPTS = 1000
WAIT = 0.001  # seconds until the next attempt while the folder is missing
CAN_OPEN_FOLDERS = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd

Result = TypeVar("Result")


class OpenFolder:
    """A folder whose files are read from the same version, whatever is at its path.

    Where the system cannot open folders, files are opened by their path.

    Parameters
    ----------
    path : Path
        Path of the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY) if CAN_OPEN_FOLDERS else None
        status = path.stat() if self._handle is None else os.fstat(self._handle)
        self._identity = status.st_dev, status.st_ino
        self._streams: dict[str, BinaryIO] = {}

    def is_current(self) -> bool:
        """Return whether this folder is still at its path."""
        try:
            status = self.path.stat()
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity

    def open_file(self, name: str) -> BinaryIO:
        """Open a file, which stays open as long as the folder; the next call returns it again, from its start.

        Raises
        ------
        OSError
            If the file is missing, or is not a regular file.
        """
        if name not in self._streams:
            self._streams[name] = self._open(name)
        self._streams[name].seek(0)
        return self._streams[name]

    @contextlib.contextmanager
    def read_file(self, name: str) -> Iterator[BinaryIO]:
        """Open a file during the block; a file that is open already stays open."""
        if name in self._streams:
            yield self.open_file(name)
        else:
            with self._open(name) as stream:
                yield stream

    def get_size(self, name: str) -> int:
        """Return the size of a file in bytes."""
        if name in self._streams:
            return os.fstat(self._streams[name].fileno()).st_size
        return os.stat(self._locate(name), dir_fd=self._handle).st_size

    def close(self) -> None:
        """Close the folder and its files."""
        for stream in self._streams.values():
            stream.close()
        if self._handle is not None:
            os.close(self._handle)

    def _locate(self, name: str) -> Path:
        return self.path / name if self._handle is None else Path(name)

    def _open(self, name: str) -> BinaryIO:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe must not block
        handle = os.open(self._locate(name), flags, dir_fd=self._handle)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise IsADirectoryError(f"{name} is not a regular file")
        return os.fdopen(handle, "rb")


def read_folder(path: Path, read: Callable[[OpenFolder], Result]) -> Result:
    """Read from one version of a folder: if it is replaced and reading fails, read the new one.

    Parameters
    ----------
    path : Path
        Path of the folder.
    read : callable
        Function of the open folder.

    Returns
    -------
    object
        Result of the function.

    Raises
    ------
    InputError
        If ``path`` is not a folder, or the function raises it for a folder that was not replaced.
    """
    path = Path(path)
    for attempt in range(MAX_ATTEMPTS):
        is_last = attempt == MAX_ATTEMPTS - 1
        recover_folder(path)
        try:
            folder = OpenFolder(path)
        except (FileNotFoundError, NotADirectoryError):
            if is_last or not is_being_replaced(path):
                raise InputError(f"{path} is not a folder; check the path") from None
            time.sleep(WAIT)
            continue
        try:
            return read(folder)
        except (InputError, OSError):
            if is_last or folder.is_current():
                raise
        finally:
            folder.close()
    raise AssertionError("unreachable")
