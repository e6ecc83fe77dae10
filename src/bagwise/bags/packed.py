"""Bags: many bags of instances in one packed, immutable structure.

    instances  (N, …)   rows of all bags laid end to end, in memory or memory-mapped
    offsets    (B + 1,) bag b owns the rows offsets[b] … offsets[b + 1] − 1

A selection of bags is Bags again, so a batch is a small data set: no padding, no masks, no collate function.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bagwise.bags import checks, describe, tables
from bagwise.bags.arrays import array_of, joined, locked, offsets_of, table_of
from bagwise.bags.companions import check_companions, checked_names
from bagwise.errors import InputError

PER_BAG = ("labels", "names", "groups", "tile_sizes")
PER_INSTANCE = ("positions", "instance_labels")
ARRAYS = ("instances", "offsets", *PER_BAG, *PER_INSTANCE)
NOTHING = dict.fromkeys(ARRAYS)


@dataclass(frozen=True, eq=False, repr=False)
class Bags:
    """Packed bags; every field but the first two is optional.

    instances : (n_instances, …) numbers: vectors, or images as (height, width) or (height, width, channels)
    offsets : (n_bags + 1,) first row of each bag, and the end
    labels, names, groups : (n_bags,) a bag's label, its unique name, and what it must not be separated from (a patient)
    positions : (n_instances, 2) x and y of an instance's upper left corner in level-0 pixels
    tile_sizes : (n_bags,) side of a bag's tiles in level-0 pixels
    extractor : what made the features, e.g. "resnet50"; a model trained on one refuses those of another
    instance_labels : (n_instances,) numbers, positive where an instance is key; for evaluation only

    Arrays are shared, not copied: what their owner writes into them later changes the bags too. Labels and groups are
    words, whole numbers, numbers or booleans, one kind for all.

    >>> bags = Bags.from_list([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]], labels=["no", "yes"])
    >>> bags
    Bags: 2 bags, 3 instances of 2 float64, 1 to 2 a bag (median 1.5); labels no: 1, yes: 1
    >>> bags[[1]].instances
    array([[5., 6.]])
    """

    instances: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray | None = None
    names: np.ndarray | None = None
    groups: np.ndarray | None = None
    positions: np.ndarray | None = None
    instance_labels: np.ndarray | None = None
    tile_sizes: np.ndarray | None = None
    extractor: str | None = None

    def __post_init__(self) -> None:
        for name in ARRAYS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, locked(array_of(name, value)))
        if self.names is not None:
            object.__setattr__(self, "names", locked(checked_names(self.names)))
        checks.check_layout(self.instances, self.offsets, self.names)
        object.__setattr__(self, "offsets", locked(self.offsets.astype(np.int64)))
        check_companions(self)
        checks.check_finite(self.instances, self.offsets, self.names)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Lock the arrays again, which come out of a pickle or a deep copy writeable."""
        for name, value in state.items():
            object.__setattr__(self, name, locked(value) if name in ARRAYS and value is not None else value)

    @classmethod
    def trusted(cls, extractor: str | None = None, **arrays: np.ndarray | None) -> "Bags":
        """Bags whose arrays were checked before (a selection, a sealed folder): nothing is read or checked again."""
        bags = object.__new__(cls)
        there = {name: locked(value) for name, value in arrays.items() if value is not None}
        bags.__dict__.update({**NOTHING, **there, "extractor": extractor})  # at once: selections are made all the time
        return bags

    @classmethod
    def from_list(cls, bags: Iterable[Any], labels: Any = None, **companions: Any) -> "Bags":
        """Pack a list of arrays, one (n_instances, …) array a bag.

        >>> Bags.from_list([[[0.0]], [[1.0], [2.0]]]).sizes
        array([1, 2])
        """
        names = companions.get("names")
        arrays = [table_of(bag, checks.called(names, number)) for number, bag in enumerate(bags)]
        if not arrays:
            raise InputError("there are no bags in the list; pass at least one")
        checks.check_sizes(np.array([len(array) if array.ndim else 1 for array in arrays]), names)
        for number, array in enumerate(arrays):
            if array.ndim < 2:
                raise InputError(
                    f"{checks.called(names, number)} has shape {array.shape}; a bag is a (n_instances, …) array"
                )
            if array.shape[1:] != arrays[0].shape[1:]:
                raise InputError(
                    f"{checks.called(names, number)} has instances of shape {array.shape[1:]}, "
                    f"{checks.called(names, 0)} of {arrays[0].shape[1:]}; every instance must have the same shape"
                )
        sizes = [len(array) for array in arrays]
        return cls(np.concatenate(arrays), offsets_of(sizes), **_arrays({"labels": labels, **companions}))

    @classmethod
    def from_frame(
        cls, frame: Any, bag: str, label: str | None = None, group: str | None = None, instance_label: str | None = None
    ) -> "Bags":
        """Pack a data frame (pandas, polars …) with one row an instance; the columns not named are the features.

        Rows of a bag need not be neighbours; bags come in the order of their first row.

        >>> import pandas as pd
        >>> table = pd.DataFrame({"id": ["a", "b", "a"], "y": [1, 0, 1], "x": [0.5, 1.5, 2.5]})
        >>> Bags.from_frame(table, bag="id", label="y").names
        array(['a', 'b'], dtype='<U1')
        """
        return cls(**tables.arrays_from_frame(frame, bag, label, group, instance_label))

    @classmethod
    def concatenate(cls, parts: Sequence["Bags"]) -> "Bags":
        """Bags of several Bags after one another; a field is kept if every part has it."""
        if not parts or not all(isinstance(part, Bags) for part in parts):
            raise InputError("there is nothing to concatenate; pass a list of at least one Bags")
        shapes = {part.instances.shape[1:] for part in parts}
        if len(shapes) != 1:
            raise InputError(f"cannot concatenate bags whose instances differ in shape: {sorted(shapes)}")
        extractors = {part.extractor for part in parts}
        if len(extractors) != 1:
            raise InputError(f"cannot concatenate features of different extractors: {sorted(map(str, extractors))}")
        companions: dict[str, Any] = {"extractor": extractors.pop()}
        for name in PER_BAG + PER_INSTANCE:
            values = [getattr(part, name) for part in parts]
            if all(value is not None for value in values):
                companions[name] = joined(name, values)
        sizes = np.concatenate([part.sizes for part in parts])
        return cls(np.concatenate([part.instances for part in parts]), offsets_of(sizes), **companions)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_bags(self) -> int:
        return len(self)

    @property
    def n_instances(self) -> int:
        return len(self.instances)

    @property
    def shape(self) -> tuple[int]:
        """(n_bags,): scikit-learn asks for it."""
        return (len(self),)

    @property
    def instance_shape(self) -> tuple[int, ...]:
        return self.instances.shape[1:]

    @property
    def sizes(self) -> np.ndarray:
        """Number of instances of each bag."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> np.ndarray:
        """(n_instances,): the bag each instance belongs to."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def name(self, bag: int | np.integer) -> str:
        """The name of a bag, or its number when bags have no names."""
        return str(bag) if self.names is None else str(self.names[bag])

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[bag] for bag in range(len(self)))

    def __getitem__(self, rows: Any) -> Any:
        """A whole number gives the instances of that bag; a slice, mask or list of numbers gives Bags again.

        >>> bags = Bags.from_list([[[1.0]], [[2.0], [3.0]], [[4.0]]])
        >>> bags[1].ravel()
        array([2., 3.])
        >>> bags[[True, False, True]].sizes
        array([1, 1])
        """
        if isinstance(rows, tuple):  # scikit-learn indexes with (rows, ...)
            if len(rows) != 2 or (rows[1] is not Ellipsis and rows[1] != slice(None)):
                raise IndexError("Bags have one axis: index them with rows, a slice or a mask")
            rows = rows[0]
        chosen = np.arange(len(self))[np.asarray(rows, dtype=int) if isinstance(rows, list) and not rows else rows]
        if chosen.ndim == 0:
            return self.instances[self.offsets[chosen] : self.offsets[chosen + 1]]
        if chosen.ndim > 1 or rows is None or isinstance(rows, bool | np.bool_):
            raise IndexError("Bags have one axis: index them with rows, a slice or a mask")
        return self._select(chosen)

    def _select(self, chosen: np.ndarray) -> "Bags":
        if len(chosen) == 1 or (len(chosen) > 0 and bool((np.diff(chosen) == 1).all())):
            return self._neighbours(int(chosen[0]), int(chosen[-1]) + 1)
        sizes = self.offsets[chosen + 1] - self.offsets[chosen]
        offsets = offsets_of(sizes)
        take = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        return self._part(offsets, chosen, take)

    def _neighbours(self, start: int, end: int) -> "Bags":
        """Bags that follow one another, as views: no row is copied, or read from a memory-mapped file."""
        offsets = self.offsets[start : end + 1]
        first, last = offsets[0], offsets[-1]
        return self._part(offsets - first, slice(start, end), slice(first, last))

    def _part(self, offsets: np.ndarray, of_bags: Any, of_instances: Any) -> "Bags":
        arrays: dict[str, np.ndarray | None] = {"instances": self.instances[of_instances], "offsets": offsets}
        for names, part in ((PER_BAG, of_bags), (PER_INSTANCE, of_instances)):
            arrays |= {name: value[part] for name in names if (value := getattr(self, name)) is not None}
        return Bags.trusted(self.extractor, **arrays)

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> "Bags":
        """Apply a function to the packed instances, all bags at once; it must keep the rows.

        >>> Bags.from_list([[[2.0]], [[4.0]]]).map(np.sqrt).instances.ravel()
        array([1.41421356, 2.        ])
        """
        mapped = np.asarray(function(self.instances))
        if mapped.shape[:1] != (self.n_instances,):
            raise InputError(f"the function gave shape {mapped.shape} for {self.n_instances} instances; keep the rows")
        return replace(self, instances=mapped)

    def replace(self, **fields: Any) -> "Bags":
        """The same bags with other labels, names, groups … (checked again)."""
        return replace(self, **_arrays(fields))

    def __repr__(self) -> str:
        return describe.line(self)

    def _repr_html_(self) -> str:
        return describe.table(self)


def _arrays(values: dict[str, Any]) -> dict[str, Any]:
    """Lists become arrays; what is missing, or no array at all, stays as it is."""
    return {
        name: array_of(name, value) if value is not None and name in ARRAYS else value for name, value in values.items()
    }
