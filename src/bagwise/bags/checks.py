"""What Bags refuse, checked once at the border: each message names the bag and says what to do."""

import math
from typing import Any

import numpy as np

from bagwise.errors import InputError

VALUES_AT_ONCE = 1 << 22


def called(names: Any, bag: int) -> str:
    """How a message calls a bag: by its name, or by its number when bags have no names."""
    return f"bag {bag}" if names is None or bag >= len(names) else f"bag '{names[bag]}'"


def check_layout(instances: np.ndarray, offsets: np.ndarray, names: Any) -> None:
    """Rows are numbers, offsets cover them from first to last, and no bag is empty."""
    if instances.ndim < 2:
        raise InputError(
            f"instances have shape {instances.shape}; expected (n_instances, …): "
            "for one feature an instance, reshape to (n_instances, 1)"
        )
    if 0 in instances.shape[1:]:
        raise InputError(f"instances have shape {instances.shape}, hence no features; give them at least one")
    if not is_plain(instances, "fuib"):
        raise InputError(f"instances are {type_of(instances)}; convert them to numbers (float32, uint8 …) first")
    runs = offsets.ndim == 1 and len(offsets) > 1 and is_plain(offsets, "iu")
    if not runs or offsets[0] != 0 or offsets[-1] != len(instances):
        raise InputError(
            f"offsets must run from 0 to the number of instances, {len(instances)}, in whole numbers; these run "
            f"{offsets.ravel()[:1].tolist()} … {offsets.ravel()[-1:].tolist()} ({offsets.dtype})"
        )
    sizes = np.diff(offsets.astype(np.int64))
    if (sizes < 0).any():
        raise InputError(f"offsets fall at {called(names, int(np.argmax(sizes < 0)))}; they must rise")
    check_sizes(sizes, names)


def check_sizes(sizes: np.ndarray, names: Any) -> None:
    """No bag is empty."""
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        raise InputError(f"{listed(names, empty)} without instances; drop empty bags before building Bags")


def check_finite(instances: np.ndarray, offsets: np.ndarray, names: Any) -> None:
    """No NaN or infinity, read in pieces so that a memory-mapped file never lies in memory whole."""
    if instances.dtype.kind != "f":
        return
    step = max(1, VALUES_AT_ONCE // math.prod(instances.shape[1:]))
    bad_rows = [
        start + np.flatnonzero(~np.isfinite(piece).reshape(len(piece), -1).all(axis=1))
        for start in range(0, len(instances), step)
        if not np.isfinite(piece := instances[start : start + step]).all()
    ]
    if not bad_rows:
        return
    rows = np.concatenate(bad_rows)
    bag = int(np.searchsorted(offsets, rows[0], side="right")) - 1
    own = rows[rows < offsets[bag + 1]]
    others = len(rows) - len(own)
    count = int((~np.isfinite(instances[own])).sum())
    raise InputError(
        f"{called(names, bag)} has {count} value{'s' * (count != 1)} that {'are' if count != 1 else 'is'} NaN or "
        f"infinite, first in its row {rows[0] - offsets[bag]}"
        + (f" (and {others} more rows in other bags)" if others else "")
        + "; fill them in or drop the rows"
    )


def listed(names: Any, bags: np.ndarray) -> str:
    """Several bags in a message: the first five by name, then their number and the verb."""
    shown = ", ".join(called(names, int(bag)) for bag in bags[:5])
    return shown + (f" and {len(bags) - 5} more" if len(bags) > 5 else "") + (" are" if len(bags) > 1 else " is")


def is_plain(values: np.ndarray, kinds: str) -> bool:
    """Whether an array's type is of these kinds (NumPy's letters) and, if numbers, of 64 bits at most, as torch's."""
    return values.dtype.kind in kinds and (values.dtype.kind == "U" or values.dtype.itemsize <= 8)


def type_of(values: np.ndarray) -> str:
    """How a message calls the type of an array: that of its objects, where it holds such."""
    if values.dtype.kind != "O":
        return str(values.dtype)
    return "objects of type " + ", ".join(sorted({type(value).__name__ for value in values.ravel()})[:5])
