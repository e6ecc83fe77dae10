"""A table with one row an instance → the arrays of packed bags."""

from typing import Any

import numpy as np

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
        values = np.asarray(frame[column])
        missing = np.array([_is_missing(value) for value in values], dtype=bool)
        if missing.any():
            raise InputError(f"column '{column}' is empty in row {int(np.argmax(missing))}; fill it in or drop the row")
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
        "instance_labels": None if instance_label is None else np.asarray(frame[instance_label])[order],
    }


def _feature_columns(frame: Any, roles: dict[str, str | None]) -> list[str]:
    columns = list(frame.columns)
    for role, column in roles.items():
        if column is not None and column not in columns:
            shown = ", ".join(map(str, columns[:20]))
            raise InputError(f"{role}='{column}' is not a column of the frame; it has: {shown}")
    features = [column for column in columns if column not in roles.values()]
    if not features:
        raise InputError("the frame has no feature columns besides the named ones")
    return features


def _is_missing(value: Any) -> bool:
    differs = value != value  # True for NaN and NaT; pandas.NA gives itself
    return value is None or type(differs).__name__ == "NAType" or bool(differs)


def _bag_names(frame: Any, bag: str) -> np.ndarray:
    values = np.asarray(frame[bag])
    missing = np.array([_is_missing(value) for value in values], dtype=bool)
    if missing.any():
        raise InputError(f"column '{bag}' is empty in row {int(np.argmax(missing))}; name the bag of every row")
    return values.astype(str)


def _numbers(frame: Any, column: str) -> np.ndarray:
    values = np.asarray(frame[column])
    if values.dtype.kind in "fuib":
        return values
    for row, value in enumerate(values):
        try:
            float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"column '{column}' is not numeric: row {row} has {value!r}; "
                "encode it as numbers, or drop the column if it is not a feature"
            ) from None
    return values.astype(float)
