"""The table bags.csv of a bag folder: name, label, group and tile size of each bag, as text."""

import csv
import io
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bagwise.bags.checks import get_column_kind
from bagwise.errors import InputError

COLUMNS = {"names": "name", "labels": "label", "groups": "group", "tile_sizes": "tile_size"}


def write_bag_table(path: Path, columns: dict[str, list[Any]]) -> dict[str, str]:
    """Write bags.csv, and return the type of each column, because "1" could be a number or a string."""
    names = columns.get("name", [])
    if len(set(names)) < len(names):
        repeated = Counter(names).most_common(1)[0][0]
        raise InputError(f"bag '{repeated}' occurs more than once; names must be unique")
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*(map(_format_cell, values) for values in columns.values()), strict=True))
    return {
        column: get_column_kind(f"{column}s", np.fromiter(values, dtype=object)) for column, values in columns.items()
    }


def _format_cell(value: Any) -> str:
    return repr(value.item()) if isinstance(value, np.number) else str(value)


def read_bag_table(stream: BinaryIO, kinds: dict[str, str]) -> dict[str, np.ndarray]:
    """Read bags.csv, given the type of each column, as fields of ``Bags``."""
    rows = list(csv.reader(io.StringIO(stream.read().decode("utf-8"), newline="")))[1:]
    columns = dict(zip(kinds, zip(*rows, strict=True), strict=True)) if kinds else {}
    fields = {column: name for name, column in COLUMNS.items()}
    return {fields[column]: _parse_column(values, kinds[column]) for column, values in columns.items()}


def _parse_column(values: tuple[str, ...], kind: str) -> np.ndarray:
    if kind == "bool":
        return np.array([value == "True" for value in values])
    return np.array(values, dtype={"int": np.int64, "float": np.float64, "str": str}[kind])
