"""What comes with bags and instances: labels, names, groups, tile sizes, positions; checked once, at the border."""

from typing import Any

import numpy as np

from bagwise.bags.checks import called, is_plain, listed, type_of
from bagwise.errors import InputError

BOOLEAN = bool | np.bool_
KINDS: dict[str, tuple[str, Any]] = {  # NumPy's letters, and the types of objects
    "str": ("U", str),
    "bool": ("b", BOOLEAN),
    "int": ("iu", int | np.integer),
    "float": ("f", int | float | np.integer | np.floating),
}
LIMIT = 1 << 63


def check_companions(bags: Any) -> None:
    """Labels, names, groups, tile sizes, positions and instance labels fit the bags and the instances."""
    for fields, count, unit in (
        (("labels", "names", "groups", "tile_sizes"), bags.n_bags, "bags"),
        (("positions", "instance_labels"), bags.n_instances, "instances"),
    ):
        for field in fields:
            _check_count(field, getattr(bags, field), count, unit)
    for field in ("labels", "groups"):
        if getattr(bags, field) is not None:
            _check_values(field, getattr(bags, field), bags.names)
    for field in ("tile_sizes", "positions", "instance_labels"):
        if getattr(bags, field) is not None:
            _check_numbers(field, getattr(bags, field))
    if bags.names is not None:
        _check_unique(bags.names)


def checked_names(names: np.ndarray) -> np.ndarray:
    """Names as text; a missing one would become the word "None", and bytes do not say how they are spelt."""
    check_present("names", names, None)
    if names.dtype.kind in "SV":
        raise InputError(f"names are {names.dtype}; decode them to text first")
    return names.astype(str)


def check_present(field: str, values: np.ndarray, names: Any) -> None:
    """No value is missing."""
    missing = [bag for bag, value in enumerate(values.ravel()) if is_missing(value)]
    if missing:
        one = field.removesuffix("s")
        raise InputError(f"the {one} of {called(names, missing[0])} is missing; give every bag one or drop it")


def is_missing(value: Any) -> bool:
    """None, NaN or NaT; pandas' own are known by their names, because pandas need not be there."""
    unlike_itself = isinstance(value, float | np.generic) and bool(value != value)
    return value is None or unlike_itself or type(value).__name__ in ("NAType", "NaTType")


def kind_of(field: str, values: np.ndarray) -> str:
    """What labels or groups are: "str", "bool", "int" or "float"; anything else, and a mixture, is refused."""
    for kind, (letters, types) in KINDS.items():
        if is_plain(values, letters) or (values.dtype.kind == "O" and all(_is(value, types) for value in values)):
            if kind == "int" and not all(-LIMIT <= int(value) < LIMIT for value in values):
                raise InputError(f"{field} hold whole numbers of more than 64 bits with a sign; give them as words")
            return kind
    raise InputError(f"{field} are {type_of(values)}; give words, whole numbers, numbers or booleans, one kind for all")


def _is(value: Any, types: Any) -> bool:
    return isinstance(value, types) and (types is BOOLEAN or not isinstance(value, BOOLEAN))


def _check_count(field: str, values: np.ndarray | None, count: int, unit: str) -> None:
    if values is None:
        return
    expected, one = ((count, 2), "one x, y") if field == "positions" else ((count,), "one")
    if values.shape != expected:
        raise InputError(f"{field} has shape {values.shape} for {count} {unit}; give {one} for each, in their order")


def _check_values(field: str, values: np.ndarray, names: Any) -> None:
    check_present(field, values, names)
    if kind_of(field, values) == "float" and not np.isfinite(numbers := values.astype(float)).all():
        bad = int(np.argmax(~np.isfinite(numbers)))
        raise InputError(f"the {field.removesuffix('s')} of {called(names, bad)} is {values[bad]}; make it finite")


def _check_numbers(field: str, values: np.ndarray) -> None:
    if not is_plain(values, "fuib"):
        raise InputError(f"{field} are {type_of(values)}; give numbers")
    bad = ~np.isfinite(values)
    if bad.any():
        first = int(np.argmax(bad.reshape(len(values), -1).any(axis=1)))
        raise InputError(f"{field} hold NaN or infinity, first in row {first}; fill it in or leave {field} out")


def _check_unique(names: np.ndarray) -> None:
    unique, counts = np.unique(names, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"{listed(unique, np.flatnonzero(counts > 1))} more than once; names must be unique")
