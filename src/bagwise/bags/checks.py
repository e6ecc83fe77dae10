"""Validation of ``Bags``, once, when they are created; each error message names the bag and a fix."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bagwise.errors import InputError

PER_BAG = ("labels", "names", "groups", "tile_sizes")
PER_INSTANCE = ("positions", "instance_labels")
VALUES_PER_CHUNK = 1 << 22
ROWS_PER_CHUNK = 1 << 20
MAX_NAMED_BAGS = 5  # in an error message
BOOLEAN = bool | np.bool_
COLUMN_KINDS: dict[str, tuple[str, Any]] = {  # kind codes of NumPy, and types of Python objects
    "str": ("U", str),
    "bool": ("b", BOOLEAN),
    "int": ("iu", int | np.integer),
    "float": ("f", int | float | np.integer | np.floating),
}
INT64_LIMIT = 1 << 63
SURVIVAL_TYPE = np.dtype([("event", np.bool_), ("time", np.float64)])  # of labels


# Instances and offsets


def check_layout(instances: np.ndarray, offsets: np.ndarray, names: Any) -> None:
    """Check that instances are numbers, that offsets cover them all, and that no bag is empty."""
    if instances.ndim < 2:
        raise InputError(
            f"instances have shape {instances.shape}; expected (n_instances, …): "
            "for one feature per instance, reshape to (n_instances, 1)"
        )
    if 0 in instances.shape[1:]:
        raise InputError(f"instances have shape {instances.shape}, so they have no features; give at least one feature")
    if not has_dtype_kind(instances, "fuib"):
        raise InputError(f"instances are {describe_dtype(instances)}; convert them to numbers (float32, uint8 …) first")
    are_whole = offsets.ndim == 1 and len(offsets) > 1 and has_dtype_kind(offsets, "iu")
    if not are_whole or offsets[0] != 0 or offsets[-1] != len(instances):
        raise InputError(
            f"offsets must be whole numbers from 0 to the number of instances, {len(instances)}; got "
            f"{offsets.ravel()[:1].tolist()} … {offsets.ravel()[-1:].tolist()} ({offsets.dtype})"
        )
    sizes = np.diff(offsets.astype(np.int64))
    if (sizes < 0).any():
        raise InputError(f"offsets decrease at {name_bag(names, int(np.argmax(sizes < 0)))}; they must increase")
    check_sizes(sizes, names)


def check_sizes(sizes: np.ndarray, names: Any) -> None:
    """Check that no bag is empty."""
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        verb = "have" if len(empty) > 1 else "has"
        raise InputError(f"{list_bag_names(names, empty)} {verb} no instances; drop empty bags before creating Bags")


def check_finite(instances: np.ndarray, offsets: np.ndarray, names: Any) -> None:
    """Check that all values are finite, in chunks, so that a memory-mapped file is never in memory as a whole."""
    if instances.dtype.kind != "f":
        return
    step = max(1, VALUES_PER_CHUNK // math.prod(instances.shape[1:]))
    bad_rows = [
        start + np.flatnonzero(~np.isfinite(chunk).reshape(len(chunk), -1).all(axis=1))
        for start in range(0, len(instances), step)
        if not np.isfinite(chunk := instances[start : start + step]).all()
    ]
    if not bad_rows:
        return
    rows = np.concatenate(bad_rows)
    bag = int(np.searchsorted(offsets, rows[0], side="right")) - 1
    rows_of_bag = rows[rows < offsets[bag + 1]]
    n_other = len(rows) - len(rows_of_bag)
    count = int((~np.isfinite(instances[rows_of_bag])).sum())
    raise InputError(
        f"{name_bag(names, bag)} has {count} value{'s' * (count != 1)} that {'are' if count != 1 else 'is'} NaN or "
        f"infinite, first in its row {rows[0] - offsets[bag]}"
        + (f" (and {n_other} more row{'s' * (n_other != 1)} in other bags)" if n_other else "")
        + "; fill them in or drop the rows"
    )


# Metadata of bags and instances


def check_metadata(fields: dict[str, Any], offsets: np.ndarray, names: Any) -> None:
    """Check the shape, type and values of fields: labels, names, groups, tile sizes, positions, instance labels."""
    for group, count, unit in ((PER_BAG, len(offsets) - 1, "bag"), (PER_INSTANCE, int(offsets[-1]), "instance")):
        for field in group:
            if field in fields:
                _check_shape(field, fields[field], count, unit)
    for field in ("labels", "groups"):
        if field in fields:
            _find_check(field, fields[field])(field, fields[field], names)
    for field in ("tile_sizes", *PER_INSTANCE):
        if field in fields:
            _check_numbers(field, fields[field])
    if "names" in fields:
        _check_unique(fields["names"])


def check_names(names: np.ndarray) -> np.ndarray:
    """Return names as strings; reject missing names, which would become "None", and bytes of unknown encoding."""
    check_present("names", names, None)
    if names.dtype.kind in "SV":
        raise InputError(f"names are {names.dtype}; decode them to text first")
    return names.astype(str)


def check_present(field: str, values: np.ndarray, names: Any) -> None:
    """Check that no value is missing."""
    missing = [bag for bag, value in enumerate(values.ravel()) if is_missing_value(value)]
    if missing:
        raise InputError(
            f"the {field.removesuffix('s')} of {name_bag(names, missing[0])} is missing; give every bag one, or drop "
            "the bag"
        )


def get_column_kind(field: str, values: np.ndarray) -> str:
    """Return the type of labels or groups: "str", "bool", "int" or "float"; reject other and mixed types."""
    for kind, (codes, types) in COLUMN_KINDS.items():
        are_objects = values.dtype.kind == "O" and all(_is_instance(value, types) for value in values)
        if has_dtype_kind(values, codes) or are_objects:
            if kind == "int" and not all(-INT64_LIMIT <= int(value) < INT64_LIMIT for value in values):
                raise InputError(f"{field} contain integers beyond the range of int64; give them as strings")
            return kind
    raise InputError(
        f"{field} are {describe_dtype(values)}; give strings, integers, floats or booleans, all of one type"
    )


def is_missing_value(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT, or a missing value of pandas, which need not be installed."""
    differs_from_itself = isinstance(value, float | np.generic) and bool(value != value)
    return value is None or differs_from_itself or type(value).__name__ in ("NAType", "NaTType")


def _check_shape(field: str, values: np.ndarray, count: int, unit: str) -> None:
    expected, value = ((count, 2), "one x, y pair") if field == "positions" else ((count,), "one")
    if field == "labels" and values.ndim == 2 and values.shape[1] > 0 and values.dtype.names is None:
        expected, value = (count, values.shape[1]), "one row"
    if values.shape != expected:
        raise InputError(
            f"{field} has shape {values.shape} for {count} {unit}{'s' * (count != 1)}; give {value} per {unit}, in the "
            "same order"
        )


def _check_values(field: str, values: np.ndarray, names: Any) -> None:
    check_present(field, values, names)
    if get_column_kind(field, values) == "float" and not np.isfinite(numbers := values.astype(float)).all():
        bad = int(np.argmax(~np.isfinite(numbers)))
        raise InputError(f"the {field.removesuffix('s')} of {name_bag(names, bad)} is {values[bad]}; it must be finite")


def _find_check(field: str, values: np.ndarray) -> Callable[[str, np.ndarray, Any], None]:
    """Return the check of values: labels may have several columns, or a time and an event."""
    if field == "labels" and values.dtype.names is not None:
        return _check_survival
    return _check_columns if field == "labels" and values.ndim == 2 else _check_values


def _check_columns(field: str, values: np.ndarray, names: Any) -> None:
    """Check several labels per bag: numbers or booleans; NaN is an unknown label."""
    if values.size and get_column_kind(field, values.ravel()) == "str":
        raise InputError(
            f"{field} have {values.shape[1]} columns of {describe_dtype(values)}; several labels must be numbers or "
            "booleans, with NaN for an unknown one: encode them as numbers, or keep one column"
        )
    if values.dtype.kind == "f" and (infinite := np.isinf(values)).any():
        bag, column = np.argwhere(infinite)[0]
        raise InputError(
            f"the label of {name_bag(names, int(bag))} is {values[bag, column]} in column {column}; it must be finite, "
            "or NaN if it is unknown"
        )


def _check_survival(field: str, values: np.ndarray, names: Any) -> None:
    """Check the event and the time of each bag."""
    found = {name: str(values.dtype[name]) for name in values.dtype.names or ()}
    if values.dtype != SURVIVAL_TYPE:
        listed = ", ".join(f"{name} ({dtype})" for name, dtype in found.items())
        raise InputError(
            f"{field} have the fields {listed}; a structured array must have exactly event (bool, true if the event "
            "happened) and time (float)"
        )
    bad = np.flatnonzero(~(np.isfinite(values["time"]) & (values["time"] > 0)))
    if len(bad):
        raise InputError(
            f"the time of {name_bag(names, int(bad[0]))} is {values['time'][bad[0]]}; it must be a finite number > 0: "
            "correct it, or drop the bag"
        )


def _check_numbers(field: str, values: np.ndarray) -> None:
    if not has_dtype_kind(values, "fuib"):
        raise InputError(f"{field} are {describe_dtype(values)}; give numbers")
    for start in range(0, len(values), ROWS_PER_CHUNK):  # in chunks, because values may be memory-mapped
        bad = ~np.isfinite(values[start : start + ROWS_PER_CHUNK])
        if bad.any():
            first = start + int(np.argmax(bad.reshape(len(bad), -1).any(axis=1)))
            raise InputError(f"{field} contain NaN or infinity, first in row {first}; fill it in or omit {field}")


def _check_unique(names: np.ndarray) -> None:
    unique, counts = np.unique(names, return_counts=True)
    repeated = np.flatnonzero(counts > 1)
    if len(repeated):
        verb = "occur" if len(repeated) > 1 else "occurs"
        raise InputError(f"{list_bag_names(unique, repeated)} {verb} more than once; names must be unique")


def _is_instance(value: Any, types: Any) -> bool:
    """Return the same as ``isinstance``, except that a bool is not an int."""
    return isinstance(value, types) and (types is BOOLEAN or not isinstance(value, BOOLEAN))


# Error messages


def name_bag(names: Any, bag: int) -> str:
    """Format a bag for an error message: by its name, or by its index if bags have no names.

    Parameters
    ----------
    names : sequence of str or None
        Names of all bags.
    bag : int
        Index of the bag.

    Returns
    -------
    str
        For example "bag 'molecule 7'" or "bag 7".
    """
    return f"bag {bag}" if names is None or bag >= len(names) else f"bag '{names[bag]}'"


def list_bag_names(names: Any, bags: np.ndarray) -> str:
    """Format several bags for an error message: the first five, then the number of the others."""
    named = ", ".join(name_bag(names, int(bag)) for bag in bags[:MAX_NAMED_BAGS])
    return named + (f" and {len(bags) - MAX_NAMED_BAGS} more" if len(bags) > MAX_NAMED_BAGS else "")


def has_dtype_kind(values: np.ndarray, codes: str) -> bool:
    """Return whether the dtype has one of these kind codes of NumPy and, for numbers, at most 64 bits, as in torch."""
    return values.dtype.kind in codes and (values.dtype.kind == "U" or values.dtype.itemsize <= 8)


def describe_dtype(values: np.ndarray) -> str:
    """Format the dtype of an array for an error message; for objects, their Python types."""
    if values.dtype.kind != "O":
        return str(values.dtype)
    return "objects of type " + ", ".join(sorted({type(value).__name__ for value in values.ravel()})[:5])
