"""What people give as arrays → arrays that torch can read and nobody can change."""

from typing import Any

import numpy as np

from bagwise.bags.companions import kind_of
from bagwise.errors import InputError


def array_of(name: str, value: Any) -> np.ndarray:
    """What was given, as an array in this machine's byte order, the only one torch reads; else it is not copied."""
    try:
        array = np.asanyarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name} cannot be read as an array ({error}); give a NumPy array") from None
    if isinstance(array, np.ma.MaskedArray):
        raise InputError(f"{name} are masked; fill in what is hidden, or drop it")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def table_of(bag: Any, called: str) -> np.ndarray:
    """One bag's rows as an array."""
    try:
        return np.asarray(bag)
    except ValueError:
        raise InputError(f"{called} has rows of different lengths; every instance must have the same shape") from None


def locked(value: np.ndarray) -> np.ndarray:
    """A read-only view: Bags never change, and never lock the caller's own array.

    It is a plain array, also of a memory-mapped file, because selections of ``np.memmap`` are slow.
    """
    if type(value) is np.ndarray and not value.flags.writeable:
        return value
    view = value.view(np.ndarray)
    view.flags.writeable = False
    return view


def joined(name: str, values: list[np.ndarray]) -> np.ndarray:
    """One after the other; 1 and "1" are not to become the same label or group, as they would in NumPy."""
    kinds = {kind_of(name, value) for value in values} if name in ("labels", "groups") else set()
    if len(kinds) > 1 and kinds != {"int", "float"}:
        raise InputError(f"cannot concatenate {name} of different kinds, {', '.join(sorted(kinds))}; convert one first")
    return np.concatenate(values)


def offsets_of(sizes: Any) -> np.ndarray:
    """Where each bag begins, and the end.

    >>> offsets_of([2, 1])
    array([0, 2, 3])
    """
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
