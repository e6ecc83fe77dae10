"""h5 files of other tools (h5py, optional): they can neither lead elsewhere nor claim more than they hold.

An h5 file can point at other files (external links, external storage, virtual data sets) and claim terabytes in a
kilobyte. Only plain data sets of numbers, stored in the file itself, are read.
"""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.formats.blaming import blaming
from bagwise.formats.claims import NUMBERS_COMPRESSED, check_claim, check_memory
from bagwise.formats.h5_heap import check_heaps
from bagwise.formats.memory_limit import at_most
from bagwise.formats.optional import need

DAMAGED = ("is damaged, cut short or no h5 file", "copy or make it again")

MOST_IN_ATTRIBUTE = 1000
MOST_BYTES = 1 << 26


class H5:
    """An open h5 file."""

    def __init__(self, path: Path, file: Any, package: Any) -> None:
        self.path = path
        self.file = file
        self.package = package

    def __contains__(self, name: str) -> bool:
        with blaming(self.path, *DAMAGED):
            return name in self.file.keys()  # noqa: SIM118 (`in file` would follow links)

    def rows(self, name: str) -> np.ndarray:
        """A data set of numbers, (rows, columns), read whole: TRIDENT's chunks are single rows."""
        with blaming(self.path, *DAMAGED):
            data_set = self._data_set(name)
            if 0 in data_set.shape:
                return np.empty((0, data_set.shape[-1]), data_set.dtype)
            return data_set[()]

    def attributes(self, name: str, *wanted: str) -> dict[str, Any]:
        """The wanted attributes that a data set has ("": the file itself): words and small numbers, as Python has them.

        Only these are touched: a word's length in a damaged file can ask for 4 GB.
        """
        with blaming(self.path, *DAMAGED):
            found = (self._data_set(name) if name else self.file).attrs
            return {key: _plain(self.path, found, key) for key in wanted if key in found}

    def _data_set(self, name: str) -> Any:
        if name not in self:
            listed = ", ".join(sorted(map(str, self.file.keys()))[:10]) or "nothing"
            raise InputError(f"{self.path} has no data set '{name}'; it has {listed}")
        if not isinstance(self.file.get(name, getlink=True), self.package.HardLink):
            raise InputError(
                f"{self.path}: '{name}' is a link to another place; make the file again with the rows in it"
            )
        data_set = self.file[name]
        if not isinstance(data_set, self.package.Dataset):
            raise InputError(f"{self.path}: '{name}' is not a data set; is it the right file?")
        self._check(name, data_set)
        return data_set

    def _check(self, name: str, data_set: Any) -> None:
        if data_set.is_virtual or data_set.external:
            raise InputError(
                f"{self.path}: the rows of '{name}' lie in other files; make the file again with them in it"
            )
        if (
            not (data_set.ndim == 2 or data_set.shape == (0,))
            or data_set.dtype.kind not in "fiu"
            or data_set.dtype.itemsize > 8
        ):
            raise InputError(
                f"{self.path}: '{name}' is {data_set.dtype} of shape {data_set.shape}; expected rows of numbers"
            )
        held = min(data_set.id.get_storage_size(), self.path.stat().st_size)
        if 0 not in data_set.shape and held == 0:
            raise InputError(f"{self.path} claims {data_set.shape[0]} rows of '{name}', but holds none; make it again")
        claimed = math.prod(data_set.shape) * data_set.dtype.itemsize
        in_chunk = math.prod(data_set.chunks or (0,)) * data_set.dtype.itemsize
        check_claim(self.path, max(claimed, in_chunk), held, name, NUMBERS_COMPRESSED)
        check_memory(self.path, claimed + in_chunk)


@contextlib.contextmanager
def open_h5(path: Path) -> Iterator[H5]:
    """Open an h5 file for reading; no lock is taken, so read-only disks will do."""
    if not path.is_file():
        raise InputError(f"{path} is not a file; check the path")
    package = need("h5py", path, "features")
    with blaming(path, *DAMAGED):
        file = package.File(path, "r", locking=False)
    try:
        yield H5(path, file, package)
    finally:
        with contextlib.suppress(Exception):  # what a damaged file still does when it is closed helps nobody
            file.close()


def _plain(path: Path, attributes: Any, key: str) -> Any:
    found = attributes.get_id(key)
    if math.prod(found.shape or ()) > MOST_IN_ATTRIBUTE or found.dtype.itemsize > MOST_BYTES:
        raise InputError(f"{path}: the attribute {key} is too large to be true; make the file again")
    if found.dtype.kind == "O":
        check_heaps(path)
        with at_most(MOST_BYTES):
            value = attributes[key]
    else:
        value = attributes[key]
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
