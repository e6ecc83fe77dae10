"""Lists with one table per bag → packed bags: arrays, nested lists, data frames or sparse matrices.

Data frames name their features; those of all bags are aligned by name. Sparse matrices become dense, one bag after the
other, because networks and kernels need dense rows; the size of the result is checked before.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bagwise.bags.arrays import compute_offsets
from bagwise.bags.checks import check_sizes, name_bag
from bagwise.bags.feature_names import check_feature_names, find_columns
from bagwise.bags.frames import read_features
from bagwise.errors import InputError
from bagwise.io import get_free_memory


def pack_list(bags: Iterable[Any], names: Any) -> dict[str, Any]:
    """Pack a list with one table per bag.

    Parameters
    ----------
    bags : iterable of array-like, data frame or sparse matrix, of shape (n_instances, ...)
        Instances of each bag. Either all bags are data frames with named columns, or none.
    names : sequence of str or None
        Names of the bags, for error messages.

    Returns
    -------
    dict
        The fields ``instances``, ``offsets`` and, for data frames, ``feature_names``.
    """
    tables = list(bags)
    if not tables:
        raise InputError("there are no bags in the list; pass at least one")
    feature_names = _find_feature_names(tables, names)
    if feature_names is not None:
        tables = [_align_frame(table, feature_names, name_bag(names, bag)) for bag, table in enumerate(tables)]
    arrays = [
        table if _is_sparse(table) else _as_table(table, name_bag(names, bag)) for bag, table in enumerate(tables)
    ]
    sizes = [array.shape[0] if array.ndim else 1 for array in arrays]
    check_sizes(np.array(sizes), names)
    for bag, array in enumerate(arrays):
        if array.ndim < 2:
            raise InputError(f"{name_bag(names, bag)} has shape {array.shape}; expected (n_instances, …)")
        if array.shape[1:] != arrays[0].shape[1:]:
            raise InputError(
                f"{name_bag(names, bag)} has instances of shape {array.shape[1:]}, but {name_bag(names, 0)} has "
                f"{arrays[0].shape[1:]}; every instance must have the same shape"
            )
    is_any_sparse = any(_is_sparse(array) for array in arrays)
    instances = _stack_sparse(arrays) if is_any_sparse else np.concatenate(arrays)
    packed = {"instances": instances, "offsets": compute_offsets(sizes)}
    return packed if feature_names is None else {**packed, "feature_names": feature_names}


def _as_table(rows: Any, bag: str) -> np.ndarray:
    try:
        return np.asarray(rows)
    except ValueError:
        raise InputError(f"{bag} has rows of different lengths; every instance must have the same shape") from None


def _is_frame(table: Any) -> bool:
    return hasattr(table, "columns") and hasattr(table, "__getitem__")


def _find_feature_names(tables: Sequence[Any], names: Any) -> tuple[str, ...] | None:
    """Return the column names of the first data frame; None if there are no frames, or their columns have no names."""
    named = [_is_frame(table) and all(isinstance(column, str) for column in table.columns) for table in tables]
    if not any(named):
        return None
    if not all(named):
        with_names, without = (name_bag(names, named.index(value)) for value in (True, False))
        raise InputError(
            f"{with_names} is a data frame with named columns, but {without} has no column names; pass data frames "
            "with named columns for all bags, or arrays for all bags, e.g. [frame.to_numpy() for frame in bags]"
        )
    first = tables[named.index(True)]
    return check_feature_names(list(first.columns), (len(first.columns),))


def _align_frame(frame: Any, feature_names: tuple[str, ...], bag: str) -> np.ndarray:
    columns = check_feature_names(list(frame.columns), (len(frame.columns),))
    try:
        find_columns(columns or (), feature_names, "the other bags")
        return read_features(frame, feature_names)
    except InputError as error:
        raise InputError(f"{bag}: {error}") from None


def _is_sparse(table: Any) -> bool:
    """Return whether a value is a sparse matrix or array of SciPy, without an import of ``scipy.sparse``."""
    return hasattr(table, "tocsr") and hasattr(table, "toarray")


def _stack_sparse(tables: Sequence[Any]) -> np.ndarray:
    """Stack sparse matrices, and arrays if there are any, to one dense array, of which each bag is filled in turn."""
    dtype = np.result_type(*(table.dtype for table in tables))
    shape = (sum(table.shape[0] for table in tables), *tables[0].shape[1:])
    n_bytes, free = math.prod(shape) * dtype.itemsize, get_free_memory()
    if free is not None and n_bytes > free:
        raise InputError(
            f"the sparse matrices need {n_bytes:,} bytes of memory as dense rows of shape {shape}, but only {free:,} "
            "are free; select or project features first, e.g. with sklearn.decomposition.TruncatedSVD"
        )
    stacked, row = np.empty(shape, dtype), 0
    for table in tables:
        stacked[row : row + table.shape[0]] = table.toarray() if _is_sparse(table) else table
        row += table.shape[0]
    return stacked
