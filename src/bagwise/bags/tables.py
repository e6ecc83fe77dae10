"""A table with one row an instance → the arrays of packed bags."""

from collections import Counter
from typing import Any

import numpy as np

from bagwise.bags.companions import is_missing
from bagwise.errors import InputError


def arrays_from_frame(
    frame: Any, bag: str, label: str | None, group: str | None, instance_label: str | None
) -> dict[str, Any]:
    """The fields of Bags, from any frame with ``columns`` and ``frame[column]`` (pandas, polars …)."""
    features = _feature_columns(frame, {"bag": bag, "label": label, "group": group, "instance_label": instance_label})
    if len(frame) == 0:
        raise InputError("the frame has no rows; pass one row for each instance")
    names, first, owners = np.unique(_bag_names(frame, bag), return_index=True, return_inverse=True)
    places = np.argsort(np.argsort(first))  # bags come in the order of their first row
    order = np.argsort(places[owners], kind="stable")
    first_rows = np.sort(first)
    instances = np.stack([_numbers(frame, column) for column in features], axis=1)[order]

    def per_bag(column: str | None) -> np.ndarray | None:
        if column is None:
            return None
        values = _filled(frame, column)
        differs = values != values[first][owners]
        if differs.any():
            row = int(np.argmax(differs))
            raise InputError(
                f"column '{column}' differs within bag '{names[owners[row]]}' (row {row} has {values[row]!r}); "
                "every row of a bag must repeat the bag's value"
            )
        return values[first_rows]

    return {
        "instances": instances,
        "offsets": np.concatenate([[0], np.cumsum(np.bincount(places[owners]))]),
        "labels": per_bag(label),
        "groups": per_bag(group),
        "names": names[np.argsort(first)],
        "instance_labels": None if instance_label is None else _instance_labels(frame, instance_label)[order],
    }


def _feature_columns(frame: Any, roles: dict[str, str | None]) -> list[str]:
    columns = list(getattr(frame, "columns", ()))
    if not columns:
        raise InputError(f"the frame, a {type(frame).__name__}, has no columns; pass a data frame of pandas or polars")
    for role, column in roles.items():
        if column not in columns and (role == "bag" or column is not None):
            shown = ", ".join(map(str, columns[:20]))
            raise InputError(f"{role}='{column}' is not a column of the frame; it has: {shown}")
    twice = [column for column, times in Counter(columns).items() if times > 1]
    if twice:
        raise InputError(f"the frame has more than one column '{twice[0]}'; rename or drop all but one")
    features = [column for column in columns if column not in roles.values()]
    if not features:
        raise InputError("the frame has no feature columns besides the named ones; keep at least one column of numbers")
    return features


def _filled(frame: Any, column: str) -> np.ndarray:
    values = np.asarray(frame[column])
    missing = np.array([is_missing(value) for value in values], dtype=bool)
    if missing.any():
        raise InputError(f"column '{column}' is empty in row {int(np.argmax(missing))}; fill it in or drop the row")
    return values


def _bag_names(frame: Any, bag: str) -> np.ndarray:
    """Names as text, unless two that differ would become one: 1 and "1"."""
    values = _filled(frame, bag)
    names = values.astype(str)
    first: dict[str, Any] = {}
    for row, (name, value) in enumerate(zip(names, values, strict=True) if values.dtype.kind == "O" else ()):
        if first.setdefault(name, value) != value:
            raise InputError(
                f"column '{bag}' holds {first[name]!r} and {value!r} (row {row}), which would be one bag of that name; "
                "convert the column to text, or rename one"
            )
    return names


def _instance_labels(frame: Any, column: str) -> np.ndarray:
    _filled(frame, column)
    return _numbers(frame, column)


def _numbers(frame: Any, column: str) -> np.ndarray:
    values = np.asarray(frame[column])
    if values.dtype.kind in "fuib":
        return values
    for row, value in enumerate(values):
        if not _is_number(value):
            raise InputError(
                f"column '{column}' is not numeric: row {row} has {value!r}; "
                "encode it as numbers, or drop the column if it is not a feature"
            )
    return values.astype(float)


def _is_number(value: Any) -> bool:
    if isinstance(value, np.complexfloating | np.timedelta64):  # of which float() would take a part
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
