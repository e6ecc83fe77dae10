"""svm-light files of bags: one line ``instance:bag:label feature:value …`` per instance; omitted features are zero."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.data.formats.cells import parse_number
from bagwise.data.formats.tables import BagPacker
from bagwise.errors import InputError
from bagwise.io import check_free_memory

MAX_FEATURES = 1 << 16
MAX_BYTES = 1 << 32  # of the dense rows: a line of ten bytes can require half a megabyte


class _Row(NamedTuple):
    place: str
    bag: str
    label: str
    features: dict[int, float]


def read_svm_light(path: str | Path, n_features: int | None = None) -> Bags:
    """Read an svm-light file; features are numbered from 1.

    Parameters
    ----------
    path : str or Path
        The file.
    n_features : int or None, default=None
        The number of features, for files in which the last features do not occur; None means the largest feature
        number in the file.

    Returns
    -------
    Bags
        Bags in the order of their first rows, with labels.

    Raises
    ------
    InputError
        If a line is malformed, the rows of a bag have different labels, or the dense table would be too large.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bags.svm"
    >>> _ = path.write_text("0:a:1 1:0.5 3:2\\n1:b:-1 2:1\\n")
    >>> read_svm_light(path).instances
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    """
    path = Path(path)
    rows = [_parse_row(path, f"line {line}", text) for line, text in _read_lines(path)]
    width = max([n_features or 1, *(index for row in rows for index in row.features)])
    if width > MAX_FEATURES or 8 * width * len(rows) > MAX_BYTES:
        raise InputError(
            f"{path} would have {len(rows)} rows of {width} features; at most {MAX_FEATURES} features and 4 GB are "
            "supported: reduce the number of features, or split the file"
        )
    check_free_memory(path, 8 * width * len(rows))
    if n_features is not None and width > n_features:
        raise InputError(
            f"{path} has feature {width}, but n_features is {n_features}; pass --data-option n_features={width}"
        )
    packer = BagPacker(path)
    for row in rows:
        values = np.zeros(width)
        values[np.array(list(row.features), dtype=int) - 1] = list(row.features.values())
        packer.add(row.place, row.bag, values.tolist(), label=row.label)
    return packer.bags()


def _read_lines(path: Path) -> list[tuple[int, str]]:
    """Return the number and the text of each line, without comments and empty lines."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8; check that it is an svm-light file") from None
    stripped = ((line, text.partition("#")[0].strip()) for line, text in enumerate(lines, start=1))
    return [(line, text) for line, text in stripped if text]


def _parse_row(path: Path, place: str, text: str) -> _Row:
    head, *pairs = text.split()
    names = head.split(":")
    if len(names) != 3:
        raise InputError(f"{path}, {place} must begin with instance:bag:label, got {head[:60]!r}")
    features: dict[int, float] = {}
    for pair in pairs:
        index, value = _parse_pair(path, place, pair)
        if index in features:
            raise InputError(f"{path}, {place} has feature {index} more than once; keep one value per feature")
        features[index] = value
    return _Row(place, bag=names[1], label=names[2].removeprefix("+"), features=features)


def _parse_pair(path: Path, place: str, pair: str) -> tuple[int, float]:
    index, _, value = pair.partition(":")
    if not (index.isascii() and index.isdigit() and 0 < len(index) < 10 and int(index) > 0):
        raise InputError(f"{path}, {place}: {pair[:60]!r} is not feature:value; features are numbered from 1")
    return int(index), parse_number(value, f"{path}, {place}, feature {index}")
