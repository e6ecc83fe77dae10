"""svm-light files for bags: lines of `instance:bag:label feature:value …`, features that are not there are zero."""

from pathlib import Path

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.formats.cells import number
from bagwise.formats.claims import check_memory
from bagwise.formats.packing import Packer

MOST_FEATURES = 1 << 16
MOST_BYTES = 1 << 32  # rows become dense: a line of ten bytes can ask for half a megabyte


def read_svm_light(path: str | Path, n_features: int | None = None) -> Bags:
    """Read an svm-light file; features count from 1.

    n_features : how many there are, where the last ones may not occur in this file

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bags.svm"
    >>> _ = path.write_text("0:a:1 1:0.5 3:2\\n1:b:-1 2:1\\n")
    >>> read_svm_light(path).instances
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    """
    path = Path(path)
    rows = [(f"line {line}", *_row(path, f"line {line}", text)) for line, text in _lines(path)]
    width = max([n_features or 1, *(index for *_, features in rows for index in features)])
    if width > MOST_FEATURES or 8 * width * len(rows) > MOST_BYTES:
        raise InputError(
            f"{path} would have {len(rows)} rows of {width} features; at most {MOST_FEATURES} fit, in 4 GB"
        )
    check_memory(path, 8 * width * len(rows))
    if n_features is not None and width > n_features:
        raise InputError(f"{path} has feature {width}, and n_features={n_features}; give the right number")
    packer = Packer(path)
    for place, bag, label, features in rows:
        values = np.zeros(width)
        values[np.array(list(features), dtype=int) - 1] = list(features.values())
        packer.add(place, bag, values.tolist(), label=label)
    return packer.bags()


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8; is it an svm-light file?") from None
    bare = ((line, text.partition("#")[0].strip()) for line, text in enumerate(lines, start=1))
    return [(line, text) for line, text in bare if text]


def _row(path: Path, place: str, text: str) -> tuple[str, str, dict[int, float]]:
    head, *pairs = text.split()
    names = head.split(":")
    if len(names) != 3:
        raise InputError(f"{path}, {place} begins with {head[:60]!r}; it must begin with instance:bag:label")
    features = dict(_pair(path, place, pair) for pair in pairs)
    if len(features) < len(pairs):
        raise InputError(f"{path}, {place} gives a feature more than once; give each once")
    return names[1], names[2].removeprefix("+"), features


def _pair(path: Path, place: str, pair: str) -> tuple[int, float]:
    index, _, value = pair.partition(":")
    if not (index.isascii() and index.isdigit() and 0 < len(index) < 10 and int(index) > 0):
        raise InputError(f"{path}, {place}: {pair[:60]!r} is not feature:value with a feature number from 1")
    return int(index), number(value, f"{path}, {place}, feature {index}")
