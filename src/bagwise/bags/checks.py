"""What Bags refuse, checked once at the border: each message names the bag and says what to do."""

from typing import Any

import numpy as np

from bagwise.errors import InputError

ROWS_AT_ONCE = 1 << 16


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
    if instances.dtype.kind not in "fuib":
        raise InputError(f"instances are {instances.dtype}; convert them to numbers (float or uint8) first")
    if offsets.ndim != 1 or len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != len(instances):
        raise InputError(
            f"offsets must run from 0 to the number of instances, {len(instances)}; these run "
            f"{offsets[:1].tolist()} … {offsets[-1:].tolist()}"
        )
    sizes = np.diff(offsets)
    if (sizes < 0).any():
        raise InputError(f"offsets fall at {called(names, int(np.argmax(sizes < 0)))}; they must rise")
    check_sizes(sizes, names)


def check_sizes(sizes: np.ndarray, names: Any) -> None:
    """No bag is empty."""
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        raise InputError(f"{_listed(names, empty)} without instances; drop empty bags before building Bags")


def check_companions(bags: Any) -> None:
    """Labels, names, groups, positions and instance labels fit the bags and the instances."""
    for field, count, unit in (
        ("labels", bags.n_bags, "bags"),
        ("names", bags.n_bags, "bags"),
        ("groups", bags.n_bags, "bags"),
        ("tile_sizes", bags.n_bags, "bags"),
        ("positions", bags.n_instances, "instances"),
        ("instance_labels", bags.n_instances, "instances"),
    ):
        value = getattr(bags, field)
        if value is not None and (value.ndim < 1 or len(value) != count):
            raise InputError(f"{field} has shape {value.shape} for {count} {unit}; give one for each, in their order")
    if bags.labels is not None:
        _check_labels(bags)
    if bags.names is not None:
        _check_unique(bags.names)
    if bags.positions is not None and bags.positions.shape != (bags.n_instances, 2):
        raise InputError(
            f"positions have shape {bags.positions.shape}; expected (n_instances, 2): x, y in level-0 pixels"
        )


def check_finite(instances: np.ndarray, offsets: np.ndarray, names: Any) -> None:
    """No NaN or infinity, read in pieces so that a memory-mapped file never lies in memory whole."""
    if instances.dtype.kind != "f":
        return
    bad_rows = [
        start + np.flatnonzero(~np.isfinite(piece).reshape(len(piece), -1).all(axis=1))
        for start in range(0, len(instances), ROWS_AT_ONCE)
        if not np.isfinite(piece := instances[start : start + ROWS_AT_ONCE]).all()
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


def _check_labels(bags: Any) -> None:
    labels = bags.labels
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        bad = int(np.argmax(~np.isfinite(labels)))
        raise InputError(f"the label of {called(bags.names, bad)} is {labels[bad]}; label every bag or drop it")
    if labels.dtype.kind == "O":
        bad_labels = np.array([label is None or label != label for label in labels])
        if bad_labels.any():
            bad = int(np.argmax(bad_labels))
            raise InputError(f"the label of {called(bags.names, bad)} is missing; label every bag or drop it")


def _check_unique(names: np.ndarray) -> None:
    unique, counts = np.unique(names, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"{_listed(unique, np.flatnonzero(counts > 1))} more than once; names must be unique")


def _listed(names: Any, bags: np.ndarray) -> str:
    shown = ", ".join(called(names, int(bag)) for bag in bags[:5])
    return shown + (f" and {len(bags) - 5} more" if len(bags) > 5 else "") + (" are" if len(bags) > 1 else " is")
