"""Rows of bags as a view: the start of each bag in one or more base arrays. Selecting bags copies no row.

    bag b  =  bases[sources[b]][starts[b] : starts[b] + offsets[b + 1] − offsets[b]]

Bases are in memory or memory-mapped. Rows are copied only when those of several bags that are not adjacent in one base
are read as one array, as in a training batch.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bagwise.bags.arrays import as_read_only, compute_offsets
from bagwise.io import MappedFile, map_again

ROWS_PER_COPY = 16  # bags that are smaller on average are copied by one array of indices, others bag by bag


class Base(NamedTuple):
    """A base array and, if it was memory-mapped from a folder of bags, its file.

    If ``columns`` are given, only these columns of the array are read, in this order.
    """

    array: np.ndarray
    file: MappedFile | None = None
    columns: np.ndarray | None = None

    def read(self, rows: slice | np.ndarray) -> np.ndarray:
        """Read rows: a slice is a view unless columns are selected."""
        return self.array[rows] if self.columns is None else self.array[rows].take(self.columns, axis=1)

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Shape of one row."""
        return self.array.shape[1:] if self.columns is None else self.columns.shape


class RowView:
    """Rows of bags in base arrays; immutable.

    It has the shape, dtype and length of the packed array. Indexed with a slice or integers, it reads only these rows.

    Parameters
    ----------
    bases : tuple of Base
        Arrays whose rows have the same shape.
    sources : numpy.ndarray of shape (n_bags,) or None
        Index of the base of each bag; None if there is one base.
    starts : numpy.ndarray of shape (n_bags,)
        First row of each bag in its base.
    offsets : numpy.ndarray of shape (n_bags + 1,)
        First row of each bag in the packed array, and the number of rows.
    """

    __slots__ = ("_adjacent", "bases", "offsets", "sources", "starts")

    def __init__(
        self, bases: tuple[Base, ...], sources: np.ndarray | None, starts: np.ndarray, offsets: np.ndarray
    ) -> None:
        self.bases = bases
        self.sources = sources
        self.starts = starts
        self.offsets = offsets
        self._adjacent: np.ndarray | None = None  # the packed array, if it is a view of a base

    @classmethod
    def pack(cls, array: np.ndarray, offsets: np.ndarray, file: MappedFile | None = None) -> "RowView":
        """Return the view of all rows of an array, one bag after the other."""
        return cls((Base(as_read_only(array), file),), None, offsets[:-1], offsets)

    @classmethod
    def concatenate(cls, views: Sequence["RowView"]) -> "RowView":
        """Return the view of the bags of several views, with the same bases."""
        numbers: dict[tuple[int, int], int] = {}
        bases: list[Base] = []
        sources = []
        for view in views:
            keys = [(id(base.array), id(base.columns)) for base in view.bases]
            for key, base in zip(keys, view.bases, strict=True):
                if numbers.setdefault(key, len(bases)) == len(bases):
                    bases.append(base)
            own = np.array([numbers[key] for key in keys])
            sources.append(own[np.zeros(len(view.starts), dtype=int) if view.sources is None else view.sources])
        starts = np.concatenate([view.starts for view in views])
        offsets = compute_offsets(np.concatenate([np.diff(view.offsets) for view in views]))
        return cls(tuple(bases), None if len(bases) == 1 else np.concatenate(sources), starts, offsets)

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Shape of one row."""
        return self.bases[0].row_shape

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the packed array."""
        return (len(self), *self.row_shape)

    @property
    def ndim(self) -> int:
        """Number of axes of the packed array."""
        return self.bases[0].array.ndim

    @property
    def dtype(self) -> np.dtype:
        """Data type of the packed array, which can represent the values of all bases."""
        dtypes = {base.array.dtype for base in self.bases}
        return dtypes.pop() if len(dtypes) == 1 else np.result_type(*dtypes)

    @property
    def nbytes(self) -> int:
        """Size of the packed array in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def select(self, chosen: np.ndarray | slice, offsets: np.ndarray) -> "RowView":
        """Return the view of some bags, given the offsets of the selection."""
        sources = None if self.sources is None else self.sources[chosen]
        return RowView(self.bases, sources, self.starts[chosen], offsets)

    def select_columns(self, columns: np.ndarray) -> "RowView":
        """Return the view of some columns, in this order."""
        bases = (
            base._replace(columns=columns if base.columns is None else base.columns[columns]) for base in self.bases
        )
        return RowView(tuple(bases), self.sources, self.starts, self.offsets)

    def split_rows(self, offsets: np.ndarray) -> "RowView":
        """Return the view in which each row is a bag, given the offsets 0, 1, 2 …"""
        sizes = np.diff(self.offsets)
        sources = None if self.sources is None else self.sources.repeat(sizes)
        return RowView(self.bases, sources, _expand_ranges(self.starts, self.offsets), offsets)

    def read(self) -> np.ndarray:
        """Return all rows as one array: a view if the bags are adjacent in one base, otherwise a copy."""
        if self._adjacent is not None:
            return self._adjacent
        if not self._is_adjacent():
            return self._copy()
        start, base = (self.starts[0], self._get_base(0)) if len(self.starts) else (0, self.bases[0])
        rows = as_read_only(self._convert(base.read(slice(start, start + len(self)))))
        if base.columns is None:
            self._adjacent = rows
        return rows

    def iterate_bags(self) -> Iterator[np.ndarray]:
        """Yield the rows of each bag without copying them."""
        return (self.read_bag(bag) for bag in range(len(self.starts)))

    def read_bag(self, bag: int) -> np.ndarray:
        """Return the rows of one bag, as a view unless they have to be converted."""
        start = self.starts[bag]
        rows = self._get_base(bag).read(slice(start, start + self.offsets[bag + 1] - self.offsets[bag]))
        return as_read_only(self._convert(rows))

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        """Read a slice of the packed rows, or the packed rows with these indices."""
        if not isinstance(rows, slice):
            return self._take(np.asarray(rows))
        start, stop, step = rows.indices(len(self))
        if step != 1:
            return self._take(np.arange(start, stop, step))
        return self._crop(start, max(start, stop)).read()

    def _crop(self, start: int, stop: int) -> "RowView":
        """Return the view of consecutive packed rows; its first and last bag may be parts of bags."""
        first = int(np.searchsorted(self.offsets, start, side="right")) - 1
        last = max(int(np.searchsorted(self.offsets, stop, side="left")), first)
        edges = self.offsets[first : last + 1].clip(start, stop)
        starts = self.starts[first:last] + (edges[:-1] - self.offsets[first:last])
        sources = None if self.sources is None else self.sources[first:last]
        return RowView(self.bases, sources, starts, edges - edges[0])

    def _take(self, rows: np.ndarray) -> np.ndarray:
        rows = np.arange(len(self))[rows] if rows.dtype == bool or (rows < 0).any() else rows
        if len(rows) and rows.max() >= len(self):
            raise IndexError(f"row {rows.max()} does not exist: there are {len(self)} rows")
        bags = np.searchsorted(self.offsets, rows, side="right") - 1
        places = self.starts[bags] + (rows - self.offsets[bags])
        return self._copy_places(places, None if self.sources is None else self.sources[bags])

    def _get_base(self, bag: int) -> Base:
        return self.bases[0 if self.sources is None else self.sources[bag]]

    def _is_adjacent(self) -> bool:
        """Return whether the bags are one range of rows of one base that has the dtype of the view."""
        if len(self.starts) > 1 and not (self.starts - self.offsets[:-1] == self.starts[0]).all():
            return False
        return self.sources is None or bool((self.sources == self.sources[:1]).all())

    def _convert(self, rows: np.ndarray) -> np.ndarray:
        return rows if len(self.bases) == 1 else rows.astype(self.dtype, copy=False)

    def _copy(self) -> np.ndarray:
        if len(self) >= ROWS_PER_COPY * len(self.starts):
            return as_read_only(np.concatenate(list(self.iterate_bags())))
        places = _expand_ranges(self.starts, self.offsets)
        return self._copy_places(places, None if self.sources is None else self.sources.repeat(np.diff(self.offsets)))

    def _copy_places(self, places: np.ndarray, sources: np.ndarray | None) -> np.ndarray:
        """Copy the rows at these places of these bases."""
        if sources is None:
            return as_read_only(self.bases[0].read(places))
        rows = np.empty((len(places), *self.row_shape), dtype=self.dtype)
        for number, base in enumerate(self.bases):
            chosen = np.flatnonzero(sources == number)
            rows[chosen] = base.read(places[chosen])
        return as_read_only(rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle files by their identity, and of the bases in memory only the rows of these bags."""
        sources = np.zeros(len(self.starts), dtype=int) if self.sources is None else self.sources
        starts, bases = self.starts.copy(), []
        for number, base in enumerate(self.bases):
            if base.file is not None:
                bases.append(Base(base.array[:0].copy(), base.file, base.columns))
                continue
            own = np.flatnonzero(sources == number)
            offsets = compute_offsets(np.diff(self.offsets)[own])
            bases.append(Base(RowView((base,), None, self.starts[own], offsets).read()))
            starts[own] = offsets[:-1]
        return _restore_view, (bases, self.sources, starts, self.offsets)


def _restore_view(bases: list[Base], sources: np.ndarray | None, starts: np.ndarray, offsets: np.ndarray) -> RowView:
    """Map the files again, and make the arrays read-only: those of a pickle or a deep copy are writeable."""
    arrays = (base.array if base.file is None else map_again(base.file) for base in bases)
    restored = (Base(as_read_only(array), base.file, base.columns) for array, base in zip(arrays, bases, strict=True))
    return RowView(tuple(restored), sources, starts, as_read_only(offsets))


def _expand_ranges(starts: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the row in the base of every packed row.

    >>> _expand_ranges(np.array([7, 2]), np.array([0, 2, 5]))
    array([7, 8, 2, 3, 4])
    """
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], np.diff(offsets))
