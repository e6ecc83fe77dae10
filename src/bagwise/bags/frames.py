"""Conversion of a data frame with one row per instance to the arrays of ``Bags``; common names of columns."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from bagwise.arguments import canonicalize_name
from bagwise.bags.checks import is_missing_value
from bagwise.bags.labels import (
    CENSORSHIP,
    EVENT,
    LABEL,
    LABEL_PREFIX,
    TIME,
    choose_label_columns,
    make_survival_labels,
    parse_event,
)
from bagwise.errors import InputError

MAX_LISTED_COLUMNS = 20  # in an error message

COMMON_COLUMNS = {
    "bag": ("bag", "bag id", "bag name", "slide id", "slide", "molecule", "molecule name", "image id"),
    "label": ("label", "bag label", "y", "target", "class"),
    "group": ("group", "group id", "case id", "patient id", "patient"),
    "instance_label": ("instance label",),
}
Reader = Callable[[Any, str], np.ndarray]  # frame, column → values

INSTANCE_COLUMNS = ("", "instance", "instance id", "instance name", "conformation", "conformation name")


def arrays_from_frame(
    frame: Any,
    bag: str,
    label: str | Sequence[str] | None,
    group: str | None,
    instance_label: str | None,
    time: str | None = None,
    event: str | None = None,
    censorship: str | None = None,
) -> dict[str, Any]:
    """Return the fields of ``Bags`` for a frame of pandas, polars or another library with ``frame[column]``."""
    label_columns: dict[str, str | None] = {**choose_label_columns(label, time, event, censorship)} or {LABEL: None}
    roles = _find_roles(frame, {"bag": bag, "group": group, "instance_label": instance_label, **label_columns})
    group, instance_label = roles["group"], roles["instance_label"]
    features = _find_features(frame, roles)
    if len(frame) == 0:
        raise InputError("the frame has no rows; pass one row per instance")
    names, first, owners = np.unique(_read_bag_names(frame, bag), return_index=True, return_inverse=True)
    places = np.argsort(np.argsort(first))  # bags are ordered by their first row
    order = np.argsort(places[owners], kind="stable")
    first_rows = np.sort(first)
    instances = read_features(frame, features)[order]

    def read_per_bag(column: str | None, read: Reader | None = None) -> np.ndarray | None:
        if column is None:
            return None
        values = (read or _read_complete)(frame, column)
        differs = values != values[first][owners]
        if values.dtype.kind == "f":
            differs &= ~(np.isnan(values) & np.isnan(values[first][owners]))
        if differs.any():
            row = int(np.argmax(differs))
            raise InputError(
                f"column '{column}' differs within bag '{names[owners[row]]}' (row {row} has {values[row]!r}); "
                "all rows of a bag must have the same value"
            )
        return values[first_rows]

    several = [role for role in roles if role.startswith(LABEL_PREFIX)]
    labels: np.ndarray | None
    if several:
        columns = [read_per_bag(roles[role], _read_label_numbers) for role in several]
        labels = np.stack(columns, axis=1)  # type: ignore[arg-type]
    elif TIME in roles:
        event_role = EVENT if EVENT in roles else CENSORSHIP
        is_one = read_per_bag(roles[event_role], _read_events)
        labels = make_survival_labels(read_per_bag(roles[TIME], _read_all_numbers), is_one == (event_role == EVENT))
    else:
        labels = read_per_bag(roles[LABEL])
    return {
        "instances": instances,
        "offsets": np.concatenate([[0], np.cumsum(np.bincount(places[owners]))]),
        "labels": labels,
        "label_names": [role.removeprefix(LABEL_PREFIX) for role in several] or None,
        "groups": read_per_bag(group),
        "names": names[np.argsort(first)],
        "instance_labels": None if instance_label is None else _read_all_numbers(frame, instance_label)[order],
        "feature_names": [str(column) for column in features],
    }


def read_features(frame: Any, features: Iterable[str]) -> np.ndarray:
    """Return columns of a data frame as an array of shape (n_rows, n_features); reject columns that are not numbers."""
    return np.stack([_read_numbers(frame, column) for column in features], axis=1)


def _find_roles(frame: Any, given: dict[str, str | None]) -> dict[str, str | None]:
    """Check the named columns, and find those of other roles by their common names."""
    columns = list(getattr(frame, "columns", ()))
    if not columns:
        raise InputError(f"the frame is a {type(frame).__name__} without columns; pass a pandas or polars data frame")
    for role, column in given.items():
        if column not in columns and (role == "bag" or column is not None):
            listed = ", ".join(map(str, columns[:MAX_LISTED_COLUMNS]))
            raise InputError(f"{role.split()[0]}='{column}' is not a column of the frame; it has: {listed}")
    repeated = [column for column, count in Counter(columns).items() if count > 1]
    if repeated:
        raise InputError(f"the frame has more than one column '{repeated[0]}'; rename or drop all but one")
    unassigned = [column for column in columns if column not in given.values()]
    return {role: _find_role(unassigned, role) if column is None else column for role, column in given.items()}


def _find_role(unassigned: list[str], role: str) -> str | None:
    candidates = list_candidates(unassigned, role)
    if len(candidates) > 1:
        raise InputError(
            f"several columns of the frame could be the {role.replace('_', ' ')} ({', '.join(candidates)}) and would "
            f"become features; name one with {role}={candidates[0]!r}, and drop the rest: "
            f"frame.drop(columns={candidates[1:]})"
        )
    return candidates[0] if candidates else None


def _find_features(frame: Any, roles: dict[str, str | None]) -> list[str]:
    used = {*roles.values()}
    features = [column for column in frame.columns if column not in used and not names_an_instance(column)]
    if not features:
        raise InputError("the frame has no feature columns besides the named ones; keep at least one numeric column")
    return features


def _read_complete(frame: Any, column: str) -> np.ndarray:
    """Return a column; reject missing values."""
    values = np.asarray(frame[column])
    missing = np.array([is_missing_value(value) for value in values], dtype=bool)
    if missing.any():
        raise InputError(f"column '{column}' is empty in row {int(np.argmax(missing))}; fill it in or drop the row")
    return values


def _read_bag_names(frame: Any, bag: str) -> np.ndarray:
    """Return names as strings; reject different values with the same string, such as 1 and "1"."""
    values = _read_complete(frame, bag)
    names = values.astype(str)
    first: dict[str, Any] = {}
    for row, (name, value) in enumerate(zip(names, values, strict=True) if values.dtype.kind == "O" else ()):
        if first.setdefault(name, value) != value:
            raise InputError(
                f"column '{bag}' contains {first[name]!r} and {value!r} (row {row}), which would become the same bag; "
                "convert the column to text, or rename one"
            )
    return names


def _read_all_numbers(frame: Any, column: str) -> np.ndarray:
    return _convert_numbers(column, _read_complete(frame, column))


def _read_label_numbers(frame: Any, column: str) -> np.ndarray:
    """Return one of several labels as numbers; missing values become NaN."""
    values = np.asarray(frame[column])
    if values.dtype.kind != "O":
        return _convert_numbers(column, values)
    known = [np.nan if is_missing_value(value) else value for value in values]
    return _convert_numbers(column, np.fromiter(known, dtype=object))


def _read_events(frame: Any, column: str) -> np.ndarray:
    values, events = _read_complete(frame, column), []
    for row, value in enumerate(values):
        try:
            events.append(parse_event(value))
        except ValueError as error:
            raise InputError(f"column '{column}', row {row}: {error}; encode the column as 0 and 1") from None
    return np.array(events)


def _read_numbers(frame: Any, column: str) -> np.ndarray:
    return _convert_numbers(column, np.asarray(frame[column]))


def _convert_numbers(column: str, values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "fuib":
        return values
    for row, value in enumerate(values):
        if not _is_convertible(value):
            raise InputError(
                f"column '{column}' is not numeric: row {row} has {value!r}; "
                "encode it as numbers, or drop the column if it is not a feature"
            )
    return values.astype(float)


def _is_convertible(value: Any) -> bool:
    if isinstance(value, np.complexfloating | np.timedelta64):  # float() would drop a part of them
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def list_candidates(columns: Iterable[str], role: str) -> list[str]:
    """List the columns that have a common name of a role.

    Parameters
    ----------
    columns : iterable of str
        Names of the columns that have no role yet.
    role : {"bag", "label", "group", "instance_label"}
        The role.

    Returns
    -------
    list of str

    Examples
    --------
    >>> list_candidates(["Bag_ID", "x", "Patient"], "group")
    ['Patient']
    """
    return [name for name in columns if canonicalize_name(str(name)) in COMMON_COLUMNS[role]]


def names_an_instance(column: str) -> bool:
    """Return whether a column contains names of instances, which are not a feature.

    >>> names_an_instance("conformation_name"), names_an_instance("mass")
    (True, False)
    """
    return canonicalize_name(str(column)) in INSTANCE_COLUMNS
