"""Files ``.npy`` and ``.npz``: nothing is unpickled, and the declared size is checked before memory is allocated."""

import math
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from bagwise.errors import InputError
from bagwise.io.disk_checks import check_file_exists
from bagwise.io.memory_limits import MAX_NUMERIC_COMPRESSION, check_declared_size, check_free_memory

HEADER_READERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npy(path: str | Path) -> np.ndarray:
    """Read a numeric array from a ``.npy`` file.

    Parameters
    ----------
    path : str or Path
        Path of the file.

    Returns
    -------
    numpy.ndarray
        Read-only array.

    Raises
    ------
    InputError
        If the file is missing or damaged, contains Python objects, or declares more data than it contains.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bag.npy"
    >>> np.save(path, np.eye(2))
    >>> read_npy(path)
    array([[1., 0.],
           [0., 1.]])
    """
    path = Path(path)
    with _open(path) as stream:
        return _read_array(path, stream, path.stat().st_size)


def read_npz(path: str | Path, name: str) -> np.ndarray:
    """Read one numeric array from a ``.npz`` file.

    Parameters
    ----------
    path : str or Path
        Path of the file.
    name : str
        Name of the array.

    Returns
    -------
    numpy.ndarray
        Read-only array.

    Raises
    ------
    InputError
        If the file is missing or damaged, has no such array, contains Python objects, or declares more data than it
        contains.
    """
    path = Path(path)
    try:
        with _open(path) as stream, zipfile.ZipFile(stream) as archive:
            entry = archive.getinfo(f"{name}.npy")
            check_declared_size(path, entry.file_size, entry.compress_size, name, MAX_NUMERIC_COMPRESSION)
            check_declared_size(path, entry.compress_size, path.stat().st_size, name)
            with archive.open(entry) as member:
                return _read_array(path, member, entry.file_size)
    except KeyError:
        raise InputError(f"{path} has no array '{name}'; check that it is the right file") from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise make_damage_error(path, error) from None


def write_array(path: Path, array: np.ndarray) -> None:
    """Write an array to a ``.npy`` file.

    Unlike ``np.save``, it raises the error of the operating system if the disk is full.

    Parameters
    ----------
    path : Path
        Path of the file.
    array : numpy.ndarray
        Array of numbers.
    """
    with path.open("wb") as stream:
        write_npy_header(stream, array.shape, array.dtype)
        stream.write(np.ascontiguousarray(array).data)


def write_npy_header(stream: BinaryIO, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Write the header of a ``.npy`` file.

    The header is padded, so it can be overwritten later with a longer first axis.

    Parameters
    ----------
    stream : binary file
        File to write to.
    shape : tuple of int
        Shape of the array.
    dtype : numpy.dtype
        Data type of the array.
    """
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)


def _open(path: Path) -> IO[bytes]:
    check_file_exists(path)
    return path.open("rb")


def _read_array(path: Path, stream: Any, n_stored: int) -> np.ndarray:
    shape, fortran_order, dtype = read_npy_header(path, stream)
    if dtype.kind not in "fiub":
        raise InputError(
            f"{path} contains {dtype}, not numbers; reading it may need unpickling, which can run code; "
            "save it as an array of numbers"
        )
    n_declared = math.prod(shape) * dtype.itemsize
    if n_declared < 0 or n_declared > n_stored:
        raise InputError(f"{path} declares {n_declared:,} bytes, but contains {n_stored:,} bytes; create it again")
    check_free_memory(path, n_declared)
    content = stream.read(n_declared)
    if len(content) != n_declared:
        raise InputError(f"{path} is truncated: {len(content):,} of {n_declared:,} bytes; copy or create it again")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran_order else "C")


def read_npy_header(path: Path, stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the shape, the memory order (True for Fortran's) and the dtype from the start of a ``.npy`` file."""
    try:
        version = np.lib.format.read_magic(stream)
        shape, fortran_order, dtype = HEADER_READERS[version](stream)
    except Exception as error:  # NumPy parses the header as a Python literal and raises the parser's exceptions
        raise make_damage_error(path, error) from None
    if any(size < 0 for size in shape):
        raise InputError(f"{path} declares the invalid shape {shape}; create it again")
    return shape, fortran_order, dtype


def make_damage_error(path: Path, error: Exception) -> InputError:
    """Return the error for a file that cannot be read as an array."""
    reason = str(error).strip().partition("\n")[0][:200]
    return InputError(f"{path} is damaged, truncated or not a NumPy file ({reason}); copy or create it again")
