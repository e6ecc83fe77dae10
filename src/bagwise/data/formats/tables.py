"""csv, tsv and parquet tables → Bags: one row per instance, with the name and the label of its bag.

The labels are in a column of the same table, or in a second table with one row per bag. The rows of a bag need not be
adjacent; bags are in the order of their first rows.
"""

import math
from array import array
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bagwise.bags import LABEL_PREFIX, Bags, choose_label_columns
from bagwise.data.formats.cells import (
    Columns,
    assign_columns,
    format_data_option,
    is_missing_cell,
    parse_labels,
    parse_number,
)
from bagwise.data.formats.label_cells import build_labels, read_label_cell
from bagwise.data.formats.parquet import open_parquet
from bagwise.errors import InputError
from bagwise.io import Cells, CsvTable, PlainRow, open_csv_lines

VALUES_PER_BLOCK = 1 << 18  # values that are parsed at once

SINGLE_ROLES = {"bag", "label", "group", "instance_label"}  # whose cells are read when bags are packed


def read_table(
    path: str | Path,
    bag: str | None = None,
    label: str | Sequence[str] | None = None,
    group: str | None = None,
    instance_label: str | None = None,
    bags: str | Path | None = None,
    drop: str | Sequence[str] = (),
    time: str | None = None,
    event: str | None = None,
    censorship: str | None = None,
) -> Bags:
    """Read a table with one row per instance.

    Columns without another role are features.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv or .parquet file.
    bag : str or None, default=None
        The column with the name of the bag; None looks for a common name (``bag``, ``bag_id``, ``slide_id``,
        ``molecule`` …).
    label : str, sequence of str or None, default=None
        The column with the label of the bag; None looks for ``label``, ``y``, ``target`` or ``class``. A table may have
        no labels. A sequence names several columns of numbers, in which an empty cell is an unknown label (NaN).
    group : str or None, default=None
        The column with the group of the bag, e.g. the patient; None looks for ``group``, ``case_id``, ``patient`` …
    instance_label : str or None, default=None
        The column with the label of each instance; None looks for ``instance_label``.
    bags : str, Path or None, default=None
        A second table with one row per bag; labels and groups are read from it instead.
    drop : str or sequence of str, default=()
        Columns to exclude from the features.
    time, event, censorship : str or None, default=None
        The columns of survival labels, instead of ``label``: the time, a number above 0; and either the event (0 or 1,
        true or false, yes or no) or the censorship, which is 1 − event.

    Returns
    -------
    Bags

    Raises
    ------
    InputError
        If a column is missing or ambiguous, a feature is not a finite number, or the rows of a bag have different
        labels or groups.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = path.write_text("bag,label,x\\na,yes,1\\nb,no,2\\na,yes,3\\n")
    >>> read_table(path).sizes
    array([2, 1])
    """
    labels = choose_label_columns(label, time, event, censorship, format_data_option)
    given = {"bag": bag, "group": group, "instance_label": instance_label}
    dropped = {drop} if isinstance(drop, str) else set(drop)
    if bags is None:
        return _read_instances(Path(path), {**given, **labels}, dropped)
    instances = _read_instances(Path(path), {**given, "group": None}, dropped, has_bag_table=True)
    return _join_tables(instances, _read_bag_table(Path(bags), {**given, **labels}), Path(path), bags)


def open_table(path: Path) -> AbstractContextManager[CsvTable]:
    """Open a table; the suffix of its name decides the format."""
    return open_parquet(path) if path.suffix.lower() == ".parquet" else open_csv_lines(path)


def _read_instances(path: Path, given: dict[str, str | None], drop: set[str], has_bag_table: bool = False) -> Bags:
    packer = BagPacker(path)
    with open_table(path) as table:
        columns = assign_columns(path, table.header, given, drop)
        packer.feature_names = columns.features
        if not columns.features:
            raise InputError(
                f"{path} has no feature columns, only {', '.join(table.header)}; add numeric columns to the table"
            )
        if has_bag_table and columns.labels:
            (name,) = columns.labels.values()
            raise InputError(
                f"{path} has labels in column '{name}', but labels come from the table of bags; exclude the column "
                f"with {format_data_option('drop', name)}"
            )
        indices = _index_roles(table.header, columns)
        features = [(table.header.index(name), name) for name in columns.features]
        for place, cells, values in _parse_rows(path, table.rows, features):
            packer.add(place, values=values, **_read_metadata(table, place, cells, indices))
    return packer.bags()


def _read_bag_table(path: Path, given: dict[str, str | None]) -> Bags:
    """Read the second table as bags of one row, with a placeholder as the only feature."""
    packer = BagPacker(path)
    with open_table(path) as table:
        columns = assign_columns(path, table.header, {**given, "instance_label": None})
        indices = _index_roles(table.header, columns)
        for place, cells in table.rows:
            packer.add(place, values=[0.0], **_read_metadata(table, place, cells, indices))
    return packer.bags()


def _index_roles(header: list[str], columns: Columns) -> dict[str, int]:
    """Return the index of the column of each role."""
    single = {"bag": columns.bag, "group": columns.group, "instance_label": columns.instance_label}
    names = {role: name for role, name in single.items() if name is not None} | columns.labels
    return {role: header.index(name) for role, name in names.items()}


def _read_metadata(table: CsvTable, place: str, cells: Cells, indices: dict[str, int]) -> dict[str, Any]:
    """Return the cells that are not features, by role; None becomes "", so that it is reported as a missing value."""
    found = {role: "" if cells[index] is None else cells[index] for role, index in indices.items()}
    for role in found.keys() - SINGLE_ROLES:
        column = f"{table.path}, {place}, column '{table.header[indices[role]]}'"
        found[role] = read_label_cell(role, found[role], column)
    return found


def _parse_rows(
    path: Path, rows: Iterator[tuple[str, Cells]], features: list[tuple[int, str]]
) -> Iterator[tuple[str, Cells, Any]]:
    """Yield each row with its features, which are parsed in blocks of rows where possible."""
    indices = [index for index, _ in features]
    while block := list(islice(rows, max(1, VALUES_PER_BLOCK // len(features)))):
        numbers = _parse_block([cells for _, cells in block], indices)
        for row, (place, cells) in enumerate(block):
            yield place, cells, _parse_features(path, place, cells, features) if numbers is None else numbers[row]


def _parse_block(block: list[Cells], indices: list[int]) -> np.ndarray | None:
    """Parse the features of several lines at once; return None if any cell needs to be parsed on its own."""
    lines = [cells.text for cells in block if isinstance(cells, PlainRow)]
    if len(lines) < len(block):
        return None
    separator = cast(PlainRow, block[0]).separator
    try:
        numbers = np.loadtxt(lines, delimiter=separator, usecols=indices, comments=None, ndmin=2)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _parse_features(path: Path, place: str, cells: Cells, features: list[tuple[int, str]]) -> list[float]:
    """Parse the features of a row.

    If a feature is not a number, the cells are parsed again one by one, which is slower, to name the column.
    """
    cells = list(cells)
    try:
        values = [float(cells[index]) for index, _ in features]
        if all(map(math.isfinite, values)) and not any("_" in str(cells[index]) for index, _ in features):
            return values
    except (TypeError, ValueError, OverflowError):
        pass
    return [
        parse_number(
            cells[index],
            f"{path}, {place}, column '{name}'",
            f"encode it as a number, or exclude the column with {format_data_option('drop', name)}",
        )
        for index, name in features
    ]


def _join_tables(instances: Bags, labelled: Bags, path: Path, bag_table: str | Path) -> Bags:
    rows = {labelled.name(row): row for row in range(len(labelled))}
    names = [instances.name(bag) for bag in range(len(instances))]
    without_label = [name for name in names if name not in rows]
    without_rows = sorted(rows.keys() - set(names))
    if without_label or without_rows:
        raise InputError(
            f"the bags in {path} and {bag_table} differ: without a row in {bag_table}: {_abbreviate(without_label)}; "
            f"without instances in {path}: {_abbreviate(without_rows)}; correct the names, or delete these bags from "
            "both tables"
        )
    chosen = labelled[[rows[name] for name in names]]
    return instances.replace(labels=chosen.labels, label_names=chosen.label_names, groups=chosen.groups)


def _abbreviate(names: Sequence[str]) -> str:
    return ", ".join(map(str, names[:10])) + (f" and {len(names) - 10} more" if len(names) > 10 else "") or "none"


class BagPacker:
    """Collects rows in any order and packs them into bags; a feature takes eight bytes.

    Parameters
    ----------
    path : Path
        The file of the rows, for error messages.

    Attributes
    ----------
    feature_names : list of str or None
        Names of the features, if the file has them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.feature_names: list[str] | None = None
        self._values = array("d")
        self._owners = array("q")
        self._indices: dict[str, int] = {}  # index of each bag, by name
        self._first_rows: list[tuple[str, dict[str, str]]] = []  # place and metadata of each bag's first row
        self._instance_labels: list[str] = []

    def add(self, place: str, bag: Any, values: npt.ArrayLike, instance_label: Any = None, **metadata: Any) -> None:
        """Add a row.

        Parameters
        ----------
        place : str
            Where the row is in the file, e.g. ``"line 2"``.
        bag : object
            The name of the bag.
        values : array-like of float
            The features of the instance.
        instance_label : object, default=None
            The label of the instance; None if the file has no instance labels.
        **metadata : object
            The label and the group of the bag, which must be the same in every row of the bag. Several labels, a time
            and an event are texts of ``read_label_cell``, by role.
        """
        name = self._read_text(place, "bag", bag)
        texts = {
            role: cell if role.startswith(LABEL_PREFIX) else self._read_text(place, role, cell)
            for role, cell in metadata.items()
        }
        if name not in self._indices:
            self._indices[name] = len(self._first_rows)
            self._first_rows.append((place, texts))
        index = self._indices[name]
        self._check_agreement(place, name, texts, *self._first_rows[index])
        self._owners.append(index)
        self._values.frombytes(np.asarray(values, dtype=np.float64).tobytes())
        if instance_label is not None:
            self._instance_labels.append(self._read_text(place, "instance label", instance_label))

    def bags(self) -> Bags:
        """Return the bags of all rows that were added."""
        if not self._first_rows:
            raise InputError(f"{self.path} has no rows; it needs one row per instance")
        owners = np.frombuffer(self._owners, dtype=np.int64)
        order = np.argsort(owners, kind="stable")
        instances = np.frombuffer(self._values).reshape(len(owners), -1)[order]
        roles = {role: [texts[role] for _, texts in self._first_rows] for role in self._first_rows[0][1]}
        labels, label_names = build_labels(roles)
        return Bags(
            instances,
            np.concatenate([[0], np.cumsum(np.bincount(owners))]),
            labels=labels,
            label_names=label_names,
            groups=np.array(roles["group"]) if "group" in roles else None,  # stays text: 1e3 and 1000 are two patients
            names=np.array(list(self._indices)),
            instance_labels=parse_labels(self._instance_labels)[order] if self._instance_labels else None,
            feature_names=self.feature_names,
        )

    def _read_text(self, place: str, role: str, cell: Any) -> str:
        if is_missing_cell(cell):
            raise InputError(f"{self.path}, {place}: the {role} is missing ({cell!r}); fill it in or delete the row")
        return str(cell).strip().replace("\0", "")

    def _check_agreement(
        self, place: str, bag: str, texts: dict[str, str], first_place: str, first_texts: dict[str, str]
    ) -> None:
        for role, text in texts.items():
            if first_texts[role] != text:
                raise InputError(
                    f"{self.path}, {place}: bag '{bag}' has the {role} {text!r}, but {first_texts[role]!r} in "
                    f"{first_place}; every row of a bag must have the same {role}"
                )
