"""h5 files of other tools, read with h5py (optional) without following links or trusting declared sizes.

An h5 file can refer to other files (external links, external storage, virtual data sets), and a file of a kilobyte can
declare terabytes of data. Only plain data sets of numbers that are stored in the file itself are read.

Strings are stored in global heaps. libhdf5 can loop forever over a damaged heap, so ``check_heaps`` checks them first:

    GCOL | version 1 | size | object … | free space        object: index, count, size, contents padded to 8 bytes

Free space is the object with index 0 and extends to the end of its heap.
"""

import contextlib
import math
import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError, translate_errors
from bagwise.io import (
    MAX_NUMERIC_COMPRESSION,
    check_declared_size,
    check_file_exists,
    check_free_memory,
    limit_memory,
    require_package,
)

DAMAGED = ("is damaged, truncated or not an h5 file", "copy or create it again")
MAX_ATTRIBUTE_VALUES = 1000
MAX_ATTRIBUTE_BYTES = 1 << 26

HEAP_SIGNATURE = b"GCOL\x01\x00\x00\x00"
FILE_SIGNATURE = b"\x89HDF\r\n\x1a\n"
HEADER_BYTES = 16  # of a heap, and of each object in it


@contextlib.contextmanager
def open_h5(path: Path) -> Iterator["H5"]:
    """Open an h5 file for reading; it is not locked, because locking fails on read-only disks."""
    check_file_exists(path)
    package = require_package("h5py", path, "features")
    with translate_errors(path, *DAMAGED):
        file = package.File(path, "r", locking=False)
    try:
        yield H5(path, file, package)
    finally:
        with contextlib.suppress(Exception):  # errors when a damaged file is closed do not matter
            file.close()


class H5:
    """An open h5 file."""

    def __init__(self, path: Path, file: Any, package: Any) -> None:
        self.path = path
        self.file = file
        self.package = package

    def __contains__(self, name: str) -> bool:
        with translate_errors(self.path, *DAMAGED):
            return name in self.file.keys()  # noqa: SIM118 (`in file` would follow links)

    def rows(self, name: str) -> np.ndarray:
        """Return a data set of shape (rows, columns).

        It is read in one call: in TRIDENT's files every row is a chunk, so that reading in parts would be slow.
        """
        with translate_errors(self.path, *DAMAGED):
            data_set = self._get_data_set(name)
            if 0 in data_set.shape:
                return np.empty((0, data_set.shape[-1]), data_set.dtype)
            return data_set[()]

    def attributes(self, name: str, *wanted: str) -> dict[str, Any]:
        """Return the wanted attributes of a data set, or of the file if ``name`` is "", as plain Python values.

        Missing attributes are omitted. Other attributes are not read: in a damaged file, the declared length of a
        string can be 4 GB.
        """
        with translate_errors(self.path, *DAMAGED):
            found = (self._get_data_set(name) if name else self.file).attrs
            return {key: _read_attribute(self.path, found, key) for key in wanted if key in found}

    def _get_data_set(self, name: str) -> Any:
        if name not in self:
            names = ", ".join(sorted(map(str, self.file.keys()))[:10]) or "nothing"
            raise InputError(
                f"{self.path} has no data set '{name}' (it contains {names}); check that it is the right file"
            )
        if not isinstance(self.file.get(name, getlink=True), self.package.HardLink):
            raise InputError(
                f"{self.path}: '{name}' is a link to another location; write the file again with the rows stored in it"
            )
        data_set = self.file[name]
        if not isinstance(data_set, self.package.Dataset):
            raise InputError(f"{self.path}: '{name}' is not a data set; check that it is the right file")
        self._check_data_set(name, data_set)
        return data_set

    def _check_data_set(self, name: str, data_set: Any) -> None:
        if data_set.is_virtual or data_set.external:
            raise InputError(
                f"{self.path}: the rows of '{name}' are stored in other files; write the file again with the rows "
                "stored in it"
            )
        is_table = data_set.ndim == 2 or data_set.shape == (0,)
        if not is_table or data_set.dtype.kind not in "fiu" or data_set.dtype.itemsize > 8:
            raise InputError(
                f"{self.path}: '{name}' must have rows of numbers, got {data_set.dtype} of shape {data_set.shape}; "
                "check that it is the right file"
            )
        stored = min(data_set.id.get_storage_size(), self.path.stat().st_size)
        if 0 not in data_set.shape and stored == 0:
            raise InputError(
                f"{self.path} declares {data_set.shape[0]} rows of '{name}', but contains none; create it again"
            )
        declared = math.prod(data_set.shape) * data_set.dtype.itemsize
        in_chunk = math.prod(data_set.chunks or (0,)) * data_set.dtype.itemsize
        check_declared_size(self.path, max(declared, in_chunk), stored, name, MAX_NUMERIC_COMPRESSION)
        check_free_memory(self.path, declared + in_chunk)


def _read_attribute(path: Path, attributes: Any, key: str) -> Any:
    found = attributes.get_id(key)
    if math.prod(found.shape or ()) > MAX_ATTRIBUTE_VALUES or found.dtype.itemsize > MAX_ATTRIBUTE_BYTES:
        raise InputError(f"{path}: the attribute {key} is implausibly large, the file may be damaged; create it again")
    if found.dtype.kind == "O":
        check_heaps(path)
        with limit_memory(MAX_ATTRIBUTE_BYTES):
            value = attributes[key]
    else:
        value = attributes[key]
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def check_heaps(path: Path) -> None:
    """Raise an error if the file has a heap whose objects do not end where the heap ends."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        sizes = content[13:15] if content[8:9] in (b"\x00", b"\x01") else content[9:11]
        if content[:8] != FILE_SIGNATURE or sizes != b"\x08\x08":
            raise InputError(f"{path} is damaged or an unsupported variant of h5; create it again")
        start = content.find(HEAP_SIGNATURE)
        while start >= 0:
            if not _is_whole_heap(content, start):
                raise InputError(f"{path} is damaged: the string heap at byte {start} has no end; create it again")
            start = content.find(HEAP_SIGNATURE, start + 1)


def _is_whole_heap(content: mmap.mmap, start: int) -> bool:
    if start + HEADER_BYTES > len(content):
        return False
    end = start + struct.unpack_from("<Q", content, start + 8)[0]
    if end > len(content):
        return False
    offset = start + HEADER_BYTES
    while offset + HEADER_BYTES <= end:
        index, size = struct.unpack_from("<H6xQ", content, offset)
        if index == 0:
            return offset + size == end
        offset += HEADER_BYTES + (size + 7) // 8 * 8
    return offset <= end
