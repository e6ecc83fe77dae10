"""csv and parquet tables → Bags: one row an instance, its bag's name and label in columns or in a second table."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.formats.cells import number
from bagwise.formats.columns import Columns, assign
from bagwise.formats.csv_files import Table, open_csv
from bagwise.formats.packing import Packer
from bagwise.formats.parquet import open_parquet

SUFFIXES = (".csv", ".tsv", ".parquet")


def read_table(
    path: str | Path,
    bag: str | None = None,
    label: str | None = None,
    group: str | None = None,
    instance_label: str | None = None,
    bags: str | Path | None = None,
    drop: str | Sequence[str] = (),
) -> Bags:
    """Read a table with one row an instance; the columns that have no other part are the features.

    bag, label, group, instance_label : names of columns; without them a column of a usual name is taken (bag, bag_id,
        slide_id, molecule …; label, y, target, class; group, case_id, patient …). A table may have no labels.
    bags : a second table with one row a bag; then its labels and groups are taken, by the name of the bag
    drop : columns that are no features

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = path.write_text("bag,label,x\\na,yes,1\\nb,no,2\\na,yes,3\\n")
    >>> read_table(path).sizes
    array([2, 1])
    """
    given = {"bag": bag, "label": label, "group": group, "instance_label": instance_label}
    dropped = {drop} if isinstance(drop, str) else set(drop)
    if bags is None:
        return _pack(Path(path), given, dropped)
    of_instances = {**given, "label": None, "group": None}
    return _joined(_pack(Path(path), of_instances, dropped, alone=False), _of_bags(Path(bags), given), Path(path), bags)


def open_table(path: Path) -> AbstractContextManager[Table]:
    """Open a table by the ending of its name."""
    return open_parquet(path) if path.suffix.lower() == ".parquet" else open_csv(path)


def _pack(path: Path, given: dict[str, str | None], drop: set[str], alone: bool = True) -> Bags:
    packer = Packer(path)
    with open_table(path) as table:
        columns = assign(path, table.header, given, drop)
        if not columns.features:
            raise InputError(f"{path} has no feature columns, only {', '.join(table.header)}; add some")
        if not alone and columns.label is not None:
            raise InputError(
                f"{path} has labels in '{columns.label}' although they come from the table of bags; drop it"
            )
        places = {role: table.header.index(name) for role, name in _roles(columns).items()}
        features = [(table.header.index(name), name) for name in columns.features]
        for place, cells in table.rows:
            packer.add(place, values=_numbers(path, place, cells, features), **_words(cells, places))
    return packer.bags()


def _roles(columns: Columns) -> dict[str, str]:
    return {role: name for role, name in columns._asdict().items() if role != "features" and name is not None}


def _numbers(path: Path, place: str, cells: list[Any], features: list[tuple[int, str]]) -> list[float]:
    """The features of a row: as fast as Python reads numbers, and cell by cell where one is to be blamed."""
    try:
        values = [float(cells[index]) for index, _ in features]
        if all(map(math.isfinite, values)) and not any("_" in str(cells[index]) for index, _ in features):
            return values
    except (TypeError, ValueError, OverflowError):
        pass
    return [number(cells[index], f"{path}, {place}, column '{name}'") for index, name in features]


def _words(cells: list[Any], places: dict[str, int]) -> dict[str, Any]:
    """What a row says of its bag; an empty cell is a missing word, not a missing column."""
    return {role: "" if cells[index] is None else cells[index] for role, index in places.items()}


def _of_bags(path: Path, given: dict[str, str | None]) -> Bags:
    """The second table, as bags of one row without features."""
    packer = Packer(path)
    with open_table(path) as table:
        columns = assign(path, table.header, {**given, "instance_label": None})
        places = {role: table.header.index(name) for role, name in _roles(columns).items()}
        for place, cells in table.rows:
            packer.add(place, values=[0.0], **_words(cells, places))
    return packer.bags()


def _joined(instances: Bags, labelled: Bags, path: Path, other: str | Path) -> Bags:
    rows = {labelled.name(row): row for row in range(len(labelled))}
    names = [instances.name(bag) for bag in range(len(instances))]
    without_label = [name for name in names if name not in rows]
    without_rows = sorted(rows.keys() - set(names))
    if without_label or without_rows:
        raise InputError(
            f"{path} and {other} name different bags: without a row in {other}: {_listed(without_label)}; "
            f"without instances in {path}: {_listed(without_rows)}; mend the names or drop the bags from both"
        )
    chosen = labelled[[rows[name] for name in names]]
    return instances.replace(labels=chosen.labels, groups=chosen.groups)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(str, names[:10])) + (f" and {len(names) - 10} more" if len(names) > 10 else "") or "none"
