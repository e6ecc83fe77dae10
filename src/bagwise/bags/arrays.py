"""Conversion of user input to the arrays of ``Bags``: read-only, in native byte order, and not copied if possible."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bagwise.bags.checks import PER_BAG, PER_INSTANCE, check_names
from bagwise.bags.labels import convert_labels
from bagwise.errors import InputError

ARRAYS = ("instances", "offsets", *PER_BAG, *PER_INSTANCE)


def as_array(name: str, value: Any) -> np.ndarray:
    """Return a value as an array in native byte order, which torch requires; native arrays are not copied."""
    try:
        array = np.asanyarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name} cannot be converted to an array ({error}); give a NumPy array") from None
    if isinstance(array, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array; fill in the masked values or drop them")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def as_read_only(value: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array, which itself stays writeable.

    The view is a plain ``np.ndarray``, even of a memory-mapped file, because selections from ``np.memmap`` are slow.
    """
    if type(value) is np.ndarray and not value.flags.writeable:
        return value
    view = value.view(np.ndarray)
    view.flags.writeable = False
    return view


def convert_fields(values: dict[str, Any]) -> dict[str, Any]:
    """Convert array-like fields to arrays; None and the other fields are not changed."""
    return {
        name: as_array(name, value) if value is not None and name in ARRAYS else value for name, value in values.items()
    }


def convert_metadata(fields: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the fields that are not None as arrays, with names as strings."""
    arrays = {name: as_array(name, value) for name, value in fields.items() if value is not None}
    if "labels" in arrays:
        arrays["labels"] = convert_labels(arrays["labels"])
    return {**arrays, "names": check_names(arrays["names"])} if "names" in arrays else arrays


def compute_offsets(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    """Compute the offsets of bags from their sizes.

    Parameters
    ----------
    sizes : array-like of shape (n_bags,)
        Number of instances of each bag.

    Returns
    -------
    numpy.ndarray of shape (n_bags + 1,)
        First row of each bag, and the number of rows.

    Examples
    --------
    >>> compute_offsets([2, 1])
    array([0, 2, 3])
    """
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
