"""The rows of bags, without metadata: their sizes, their type, and reading of all or some of them."""

from collections.abc import Iterator
from typing import Any, Literal, overload

import numpy as np

from bagwise.bags.arrays import as_read_only
from bagwise.bags.checks import PER_INSTANCE
from bagwise.bags.row_views import RowView
from bagwise.errors import InputError

VIEWED = ("instances", *PER_INSTANCE)


class BagRows:
    """Instances of bags, and optionally their positions and labels, as views of base arrays.

    Attributes
    ----------
    offsets : numpy.ndarray of shape (n_bags + 1,)
        First row of each bag, and the number of instances.
    """

    offsets: np.ndarray
    _rows: dict[str, RowView]

    def _set_rows(self, offsets: np.ndarray, rows: dict[str, Any]) -> None:
        offsets = as_read_only(offsets)
        views = {name: row if type(row) is RowView else RowView.pack(row, offsets) for name, row in rows.items()}
        self.__dict__.update(offsets=offsets, _rows=views)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"bags are immutable; use bags.replace({name}=...)")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the arrays read-only again: those of a pickle or a deep copy are writeable."""
        arrays = {name: as_read_only(value) for name, value in state.items() if isinstance(value, np.ndarray)}
        self.__dict__.update({**state, **arrays})

    @overload
    def view(self, field: Literal["instances"] = "instances") -> RowView: ...

    @overload
    def view(self, field: str) -> RowView | None: ...

    def view(self, field: str = "instances") -> RowView | None:
        """Return a field with one row per instance as a view, of which any part can be read without the rest.

        Parameters
        ----------
        field : {"instances", "positions", "instance_labels"}, default="instances"
            Name of the field.

        Returns
        -------
        RowView or None
            An object with a shape, a dtype and a length that is indexed with slices or integers, like the array; None
            if the bags do not have this field.
        """
        return self._rows.get(field)

    @property
    def instances(self) -> np.ndarray:
        """Instances of all bags, of shape (n_instances, ...).

        If the bags are adjacent, such as a slice, this is a view. Otherwise each access copies all instances; ``view``
        and ``iterate_blocks`` read a part of them.
        """
        return self._rows["instances"].read()

    @property
    def positions(self) -> np.ndarray | None:
        """Coordinates of all instances, of shape (n_instances, 2); None if unknown. Copied as ``instances`` are."""
        return self._rows["positions"].read() if "positions" in self._rows else None

    @property
    def instance_labels(self) -> np.ndarray | None:
        """Labels of all instances, of shape (n_instances,); None if unknown. Copied as ``instances`` are."""
        return self._rows["instance_labels"].read() if "instance_labels" in self._rows else None

    def iterate_blocks(self, max_rows: int) -> Iterator[np.ndarray]:
        """Read all instances in blocks of bounded size, in order.

        Parameters
        ----------
        max_rows : int
            Number of instances per block; the last block may have fewer.

        Yields
        ------
        numpy.ndarray of shape (n_rows, ...)
        """
        return (self._rows["instances"][row : row + max_rows] for row in range(0, self.n_instances, max_rows))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Refuse the conversion that functions of arrays attempt, such as transformers of scikit-learn."""
        raise InputError(
            "bags cannot be converted to one array, because their sizes differ. To use a scikit-learn transformer, "
            "wrap it: make_pipeline(apply_to_instances(StandardScaler()), BagClassifier()), with "
            "`from bagwise.estimators import apply_to_instances`. The rows of all bags are bags.instances"
        )

    def __iter__(self) -> Iterator[np.ndarray]:
        return self._rows["instances"].iterate_bags()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_bags(self) -> int:
        """Number of bags."""
        return len(self)

    @property
    def n_instances(self) -> int:
        """Total number of instances."""
        return int(self.offsets[-1])

    @property
    def shape(self) -> tuple[int]:
        """``(n_bags,)``, as scikit-learn expects."""
        return (len(self),)

    @property
    def instance_shape(self) -> tuple[int, ...]:
        """Shape of one instance."""
        return self._rows["instances"].row_shape

    @property
    def dtype(self) -> np.dtype:
        """Data type of the instances."""
        return self._rows["instances"].dtype

    @property
    def nbytes(self) -> int:
        """Size of all instances in bytes, in memory or on disk."""
        return self._rows["instances"].nbytes

    @property
    def sizes(self) -> np.ndarray:
        """Number of instances of each bag."""
        return np.diff(self.offsets)

    @property
    def bag_indices(self) -> np.ndarray:
        """Index of the bag of each instance, of shape (n_instances,)."""
        return np.repeat(np.arange(len(self)), self.sizes)


def resolve_rows(rows: Any, n_bags: int) -> int | slice | np.ndarray:
    """Resolve the index of a selection of bags: an integer, a slice, a mask, or a list of integers.

    >>> resolve_rows([True, False, True], 3)
    array([0, 2])
    """
    if isinstance(rows, tuple):  # scikit-learn indexes with (rows, ...)
        if len(rows) != 2 or (rows[1] is not Ellipsis and rows[1] != slice(None)):
            raise IndexError("Bags have one axis; index them with integers, a slice or a mask")
        rows = rows[0]
    if isinstance(rows, slice):
        return rows
    chosen = np.arange(n_bags)[np.asarray(rows, dtype=int) if isinstance(rows, list) and not rows else rows]
    if chosen.ndim > 1 or rows is None or isinstance(rows, bool | np.bool_):
        raise IndexError("Bags have one axis; index them with integers, a slice or a mask")
    return int(chosen) if chosen.ndim == 0 else chosen
