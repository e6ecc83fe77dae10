""".npy and .npz files: never unpickled, and never believed about their size."""

import math
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from bagwise.errors import InputError
from bagwise.formats.claims import NUMBERS_COMPRESSED, check_claim, check_memory

HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npy(path: str | Path) -> np.ndarray:
    """Read a .npy file of numbers.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bag.npy"
    >>> np.save(path, np.eye(2))
    >>> read_npy(path)
    array([[1., 0.],
           [0., 1.]])
    """
    path = Path(path)
    with _opened(path) as stream:
        return _array(path, stream, path.stat().st_size)


def read_npz(path: str | Path, name: str) -> np.ndarray:
    """Read one array of a .npz file."""
    path = Path(path)
    try:
        with _opened(path) as stream, zipfile.ZipFile(stream) as archive:
            entry = archive.getinfo(f"{name}.npy")
            check_claim(path, entry.file_size, entry.compress_size, name, NUMBERS_COMPRESSED)
            check_claim(path, entry.compress_size, path.stat().st_size, name)
            with archive.open(entry) as member:
                return _array(path, member, entry.file_size)
    except KeyError:
        raise InputError(f"{path} has no array '{name}'; is it the right file?") from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise _damaged(path, error) from None


def _opened(path: Path) -> IO[bytes]:
    if not path.is_file():
        raise InputError(f"{path} is not a file; check the path")
    return path.open("rb")


def _array(path: Path, stream: Any, held: int) -> np.ndarray:
    shape, fortran_order, dtype = _header(path, stream)
    if dtype.kind not in "fiub":
        raise InputError(f"{path} holds {dtype}, not numbers; it is not read, because it may need unpickling")
    claimed = math.prod(shape) * dtype.itemsize
    if claimed < 0 or claimed > held:
        raise InputError(f"{path} claims {claimed:,} bytes, but holds {held:,} bytes; make the file again")
    check_memory(path, claimed)
    content = stream.read(claimed)
    if len(content) != claimed:
        raise InputError(f"{path} is cut short: {len(content):,} of {claimed:,} bytes; copy or make it again")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran_order else "C")


def _header(path: Path, stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(stream)
        shape, fortran_order, dtype = HEADERS[version](stream)
    except Exception as error:  # NumPy reads the header as Python: its errors are those of a parser
        raise _damaged(path, error) from None
    if any(size < 0 for size in shape):
        raise InputError(f"{path} claims the shape {shape}; make the file again")
    return shape, fortran_order, dtype


def _damaged(path: Path, error: Exception) -> InputError:
    reason = str(error).strip().partition("\n")[0][:200]
    return InputError(f"{path} is damaged, cut short or no NumPy file ({reason}); copy or make it again")
