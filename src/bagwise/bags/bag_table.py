"""The table bags.csv of a bag folder: name, label or labels, group and tile size of each bag, as text."""

import csv
import io
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bagwise.bags.bags import Bags
from bagwise.bags.checks import get_column_kind
from bagwise.bags.labels import EVENT, LABEL, LABEL_PREFIX, TIME, LabelNames, make_survival_labels, split_labels
from bagwise.errors import InputError

COLUMNS = {"names": "name", "labels": "label", "groups": "group", "tile_sizes": "tile_size"}


def write_bag_table(path: Path, columns: dict[str, list[Any]]) -> dict[str, str]:
    """Write bags.csv, and return the type of each column, because "1" could be a number or a string."""
    names = columns.get("name", [])
    if len(set(names)) < len(names):
        repeated = Counter(names).most_common(1)[0][0]
        raise InputError(f"bag '{repeated}' occurs more than once; names must be unique")
    labels = {column: values for column, values in columns.items() if column.startswith(LABEL_PREFIX)}
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*(map(_format_cell, values) for values in columns.values()), strict=True))
    kinds = {column: _find_kind(f"{column}s", values) for column, values in columns.items() if column not in labels}
    if labels:  # several labels have one type
        kinds |= dict.fromkeys(labels, _find_kind("labels", chain(*labels.values())))
    return {column: kinds[column] for column in columns}


def split_metadata(per_bag: dict[str, Any], bag: Bags) -> dict[str, Any]:
    """Return the metadata of one bag by column of bags.csv: several labels have one column each."""
    labels = {} if bag.labels is None else split_labels(bag.labels, bag.label_names)
    columns: dict[str, Any] = {}
    for column, value in per_bag.items():
        is_split = column == LABEL and LABEL not in labels
        columns |= {name: values[0] for name, values in labels.items()} if is_split else {column: value}
    return columns


def _find_kind(field: str, values: Iterable[Any]) -> str:
    return get_column_kind(field, np.fromiter(values, dtype=object))


def _format_cell(value: Any) -> str:
    if isinstance(value, float | np.floating) and value != value:  # an unknown one of several labels
        return ""
    return repr(value.item()) if isinstance(value, np.number) else str(value)


def read_bag_table(
    stream: BinaryIO, kinds: dict[str, str], label_names: LabelNames | None = None
) -> dict[str, np.ndarray]:
    """Read bags.csv, given the type of each column and the names of several labels, as fields of ``Bags``."""
    rows = list(csv.reader(io.StringIO(stream.read().decode("utf-8"), newline="")))[1:]
    texts = dict(zip(kinds, zip(*rows, strict=True), strict=True)) if kinds else {}
    columns = {column: _parse_column(values, kinds[column], column) for column, values in texts.items()}
    labels = _join_labels(columns, label_names)
    fields = {column: name for name, column in COLUMNS.items()}
    found = {fields[column]: values for column, values in columns.items()}
    return found if labels is None else {**found, "labels": labels}


def _join_labels(columns: dict[str, np.ndarray], label_names: LabelNames | None) -> np.ndarray | None:
    """Remove the columns of several labels, or of the time and the event, and return them as labels."""
    several = {column: columns.pop(column) for column in [*columns] if column.startswith(LABEL_PREFIX)}
    forms = [bool(several), TIME in columns, LABEL in columns]
    if sum(forms) > 1 or (label_names is not None and not several) or (EVENT in columns) != (TIME in columns):
        raise InputError(f"the columns {', '.join([*columns, *several])} do not form one kind of labels")
    if TIME in columns:
        time, event = columns.pop(TIME), columns.pop(EVENT)
        if (time.dtype.kind, event.dtype.kind) != ("f", "b"):
            raise InputError(f"the columns {TIME} and {EVENT} are {time.dtype} and {event.dtype}, not float and bool")
        return make_survival_labels(time, event)
    if not several:
        return None
    labels = np.stack([*several.values()], axis=1)
    expected = [*split_labels(labels, label_names)]
    if [*several] != expected or len({values.dtype.kind for values in several.values()}) > 1:
        raise InputError(f"the columns {', '.join(several)} are not {', '.join(expected)} of one type")
    return labels


def _parse_column(values: tuple[str, ...], kind: str, column: str) -> np.ndarray:
    if kind == "bool":
        if unknown := {*values} - {"True", "False"}:
            raise InputError(f"column '{column}' of bags.csv contains {min(unknown)!r}, not True or False")
        return np.array([value == "True" for value in values])
    if kind == "float" and column.startswith(LABEL_PREFIX):
        values = tuple(value or "nan" for value in values)
    return np.array(values, dtype={"int": np.int64, "float": np.float64, "str": str}[kind])
