"""CLAM's split files: splits_k.csv, a column of slides for each part, or splits_k_bool.csv with True and False."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.errors import InputError
from bagwise.formats.csv_files import Table, open_csv
from bagwise.formats.labels import slide_name

PARTS = ("train", "val", "test")


class Splits(NamedTuple):
    """Names of the bags of each part."""

    train: list[str]
    validation: list[str]
    test: list[str]

    def rows(self, names: Sequence[str] | np.ndarray, path: Path) -> list[np.ndarray]:
        """The rows of each part among bags of these names; a name that is not there is an error."""
        places = {str(name): row for row, name in enumerate(names)}
        unknown = [name for part in self for name in part if name not in places]
        if unknown:
            raise InputError(f"{path} names bags that are not in the data: {', '.join(unknown[:10])}; split again")
        return [np.array([places[name] for name in part], dtype=int) for part in self]


def read_splits(path: str | Path) -> Splits:
    """Read a split file of either kind; a slide must not be in two parts.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "splits_0.csv"
    >>> _ = path.write_text(",train,val,test\\n0,a,c,d\\n1,b,,\\n")
    >>> read_splits(path)
    Splits(train=['a', 'b'], validation=['c'], test=['d'])
    """
    path = Path(path)
    with open_csv(path) as table:
        missing = [part for part in PARTS if part not in table.header]
        if missing:
            raise InputError(f"{path} has no column {', '.join(missing)}; a split file has train, val and test")
        splits = Splits(*_parts(table))
    everything = [name for part in splits for name in part]
    if not splits.train or len(set(everything)) < len(everything):
        twice = sorted({name for name in everything if everything.count(name) > 1})
        raise InputError(f"{path} has a slide twice, or none to train on ({', '.join(twice[:10])}); split again")
    return splits


def _parts(table: Table) -> list[list[str]]:
    columns = [table.header.index(part) for part in PARTS]
    rows = [cells for _, cells in table.rows]
    if rows and all(cells[column].strip().lower() in {"true", "false"} for cells in rows for column in columns):
        return [_chosen(rows, column) for column in columns]
    return [[slide_name(cells[column]) for cells in rows if cells[column].strip()] for column in columns]


def _chosen(rows: list[list[Any]], column: int) -> list[str]:
    """In the second kind, the first column names the slide."""
    return [slide_name(cells[0]) for cells in rows if cells[column].strip().lower() == "true"]
