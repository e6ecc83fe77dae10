"""Memory-mapped ``.npy`` files, and their identity, by which another process maps the same file and no other.

A mapped array keeps the content of the file that was opened, even if another file takes its place later. A process that
maps the file again compares its inode, size and time of modification with those of the file that was opened.
"""

import os
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.io.numpy_files import make_damage_error, read_npy_header


class MappedFile(NamedTuple):
    """Identity of a mapped file; it is small and can be pickled.

    Attributes
    ----------
    path : str
        Absolute path of the file.
    inode : int
        Inode of the file.
    n_bytes : int
        Size of the file.
    modified : int
        Time of the last modification, in nanoseconds.
    """

    path: str
    inode: int
    n_bytes: int
    modified: int


class MappedArray(NamedTuple):
    """A read-only memory-mapped array, and the file that it shows.

    Attributes
    ----------
    values : numpy.ndarray
        The array; only the parts that are used are read.
    file : MappedFile
        Identity of its file.
    """

    values: np.ndarray
    file: MappedFile


def map_npy(path: str | Path, stream: BinaryIO | None = None) -> MappedArray:
    """Memory-map a numeric array of a ``.npy`` file.

    Parameters
    ----------
    path : str or Path
        Path of the file.
    stream : binary file or None, default=None
        The open file, if it was opened before; None opens ``path``. It can be closed afterwards.

    Returns
    -------
    MappedArray
        The array, and the identity of its file.

    Raises
    ------
    InputError
        If the file is damaged, contains Python objects, or declares more data than it contains.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bag.npy"
    >>> np.save(path, np.eye(2))
    >>> map_npy(path).values
    array([[1., 0.],
           [0., 1.]])
    """
    if stream is None:
        with Path(path).open("rb") as opened:
            return map_npy(path, opened)
    path = Path(path)
    stream.seek(0)
    shape, fortran_order, dtype = read_npy_header(path, stream)
    try:
        if dtype.hasobject:
            raise ValueError("it contains Python objects")
        order = "F" if fortran_order else "C"
        values = np.memmap(stream, dtype, "r", stream.tell(), shape, order)  # type: ignore[call-overload]
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise make_damage_error(path, error) from None
    status = os.fstat(stream.fileno())
    file = MappedFile(str(path.absolute()), status.st_ino, status.st_size, status.st_mtime_ns)
    return MappedArray(values.view(np.ndarray), file)  # selections from np.memmap are slow


def map_again(file: MappedFile) -> np.ndarray:
    """Map a file that was mapped before, usually in another process.

    Parameters
    ----------
    file : MappedFile
        Identity of the file.

    Returns
    -------
    numpy.ndarray
        The read-only array.

    Raises
    ------
    InputError
        If the file is missing, or is another file than the one that was mapped before.
    """
    try:
        mapped = map_npy(file.path)
    except FileNotFoundError:
        raise InputError(
            f"{file.path} is missing: it was removed since the bags were loaded, or this worker runs on another "
            "machine; keep the folder at the same path on a disk that all workers share"
        ) from None
    if mapped.file != file:
        raise InputError(
            f"{file.path} was replaced or changed since the bags were loaded; load them again, and do not change the "
            "folder until all processes have finished"
        )
    return mapped.values
