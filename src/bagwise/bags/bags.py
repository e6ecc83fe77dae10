"""Bags: many bags of instances in one packed, immutable structure.

    instances  (n_instances, …)   rows of all bags, one bag after the other, in memory or memory-mapped
    offsets    (n_bags + 1,)      bag b has the rows offsets[b] … offsets[b + 1] − 1

A selection of bags is a ``Bags`` too, so batches need no padding, no masks and no collate function.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bagwise.bags.arrays import (
    ARRAYS,
    PER_BAG,
    PER_INSTANCE,
    as_array,
    as_read_only,
    compute_offsets,
    concatenate_arrays,
    convert_fields,
    pack_list,
)
from bagwise.bags.checks import check_finite, check_layout, check_metadata, check_names
from bagwise.bags.description import describe_in_html, describe_in_line
from bagwise.bags.frames import arrays_from_frame
from bagwise.errors import InputError

NO_ARRAYS = dict.fromkeys(ARRAYS)


@dataclass(frozen=True, eq=False, repr=False)
class Bags:
    """Packed bags of instances, with optional labels and other metadata.

    Arrays are not copied: if the caller modifies them later, the bags change too. Labels and groups are strings,
    integers, floats or booleans, all of one type.

    Parameters
    ----------
    instances : numpy.ndarray of shape (n_instances, ...)
        Instances of all bags: vectors, or images of shape (height, width) or (height, width, channels).
    offsets : numpy.ndarray of shape (n_bags + 1,)
        First row of each bag, and the number of instances.
    labels : numpy.ndarray of shape (n_bags,) or None, default=None
        Label of each bag.
    names : numpy.ndarray of shape (n_bags,) or None, default=None
        Unique name of each bag.
    groups : numpy.ndarray of shape (n_bags,) or None, default=None
        Group of each bag, for example the patient; a split never separates the bags of a group.
    positions : numpy.ndarray of shape (n_instances, 2) or None, default=None
        Coordinates x and y of the upper left corner of each instance, in level-0 pixels.
    instance_labels : numpy.ndarray of shape (n_instances,) or None, default=None
        Label of each instance, above zero for key instances; used for evaluation only.
    tile_sizes : numpy.ndarray of shape (n_bags,) or None, default=None
        Side length of the tiles of each bag, in level-0 pixels.
    extractor : str or None, default=None
        Name of the feature extractor, such as "resnet50"; a trained model rejects features of another extractor.

    Raises
    ------
    InputError
        If an array has the wrong shape or type, a value is missing or not finite, or a bag is empty.

    Examples
    --------
    >>> bags = Bags.from_list([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]], labels=["no", "yes"])
    >>> bags
    Bags: 2 bags, 3 instances of 2 float64, 1 to 2 per bag (median 1.5); labels no: 1, yes: 1
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
                object.__setattr__(self, name, as_read_only(as_array(name, value)))
        if self.names is not None:
            object.__setattr__(self, "names", as_read_only(check_names(self.names)))
        check_layout(self.instances, self.offsets, self.names)
        object.__setattr__(self, "offsets", as_read_only(self.offsets.astype(np.int64)))
        check_metadata(self)
        check_finite(self.instances, self.offsets, self.names)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the arrays read-only again: those of a pickle or a deep copy are writeable."""
        for name, value in state.items():
            object.__setattr__(self, name, as_read_only(value) if name in ARRAYS and value is not None else value)

    @classmethod
    def trusted(cls, extractor: str | None = None, **arrays: np.ndarray | None) -> "Bags":
        """Create bags without checks, from arrays that were checked before, such as a selection of bags.

        Parameters
        ----------
        extractor : str or None, default=None
            Name of the feature extractor.
        **arrays : numpy.ndarray or None
            Fields of ``Bags``; ``instances`` and ``offsets`` are required.
        """
        bags = object.__new__(cls)
        given = {name: as_read_only(value) for name, value in arrays.items() if value is not None}
        bags.__dict__.update({**NO_ARRAYS, **given, "extractor": extractor})  # fast, because every batch is a selection
        return bags

    @classmethod
    def from_list(cls, bags: Iterable[Any], labels: Any = None, **metadata: Any) -> "Bags":
        """Pack a list of arrays, one per bag.

        Parameters
        ----------
        bags : iterable of array-like of shape (n_instances, ...)
            Instances of each bag.
        labels : array-like of shape (n_bags,) or None, default=None
            Label of each bag.
        **metadata : array-like, str or None
            Other fields of ``Bags``.

        Returns
        -------
        Bags

        Examples
        --------
        >>> Bags.from_list([[[0.0]], [[1.0], [2.0]]]).sizes
        array([1, 2])
        """
        instances, offsets = pack_list(bags, metadata.get("names"))
        return cls(instances, offsets, **convert_fields({"labels": labels, **metadata}))

    @classmethod
    def from_frame(
        cls, frame: Any, bag: str, label: str | None = None, group: str | None = None, instance_label: str | None = None
    ) -> "Bags":
        """Pack a data frame with one row per instance; all columns that are not arguments are features.

        The rows of a bag need not be adjacent. Bags are ordered by their first row.

        Parameters
        ----------
        frame : data frame
            Data frame of pandas, polars or another library.
        bag : str
            Name of the column with the name of the bag.
        label : str or None, default=None
            Name of the column with the label of the bag, which must be the same in all of its rows.
        group : str or None, default=None
            Name of the column with the group of the bag, which must be the same in all of its rows.
        instance_label : str or None, default=None
            Name of the column with the label of the instance.

        Returns
        -------
        Bags

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"id": ["a", "b", "a"], "y": [1, 0, 1], "x": [0.5, 1.5, 2.5]})
        >>> Bags.from_frame(table, bag="id", label="y").names
        array(['a', 'b'], dtype='<U1')
        """
        return cls(**arrays_from_frame(frame, bag, label, group, instance_label))

    @classmethod
    def concatenate(cls, parts: Sequence["Bags"]) -> "Bags":
        """Concatenate several ``Bags``; optional fields are kept only if every part has them.

        Parameters
        ----------
        parts : sequence of Bags
            Bags to concatenate, at least one; all must have the same instance shape and extractor.

        Returns
        -------
        Bags
        """
        if not parts or not all(isinstance(part, Bags) for part in parts):
            raise InputError("there is nothing to concatenate; pass a list of at least one Bags")
        shapes = {part.instances.shape[1:] for part in parts}
        if len(shapes) != 1:
            raise InputError(
                f"cannot concatenate bags whose instances differ in shape: {sorted(shapes)}; convert them to one shape"
            )
        extractors = {part.extractor for part in parts}
        if len(extractors) != 1:
            found = sorted(map(str, extractors))
            raise InputError(f"cannot concatenate features of different extractors: {found}; use one extractor for all")
        metadata: dict[str, Any] = {"extractor": extractors.pop()}
        for name in PER_BAG + PER_INSTANCE:
            values = [getattr(part, name) for part in parts]
            if all(value is not None for value in values):
                metadata[name] = concatenate_arrays(name, values)
        sizes = np.concatenate([part.sizes for part in parts])
        return cls(np.concatenate([part.instances for part in parts]), compute_offsets(sizes), **metadata)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_bags(self) -> int:
        """Number of bags."""
        return len(self)

    @property
    def n_instances(self) -> int:
        """Total number of instances."""
        return len(self.instances)

    @property
    def shape(self) -> tuple[int]:
        """``(n_bags,)``, as scikit-learn expects."""
        return (len(self),)

    @property
    def instance_shape(self) -> tuple[int, ...]:
        """Shape of one instance."""
        return self.instances.shape[1:]

    @property
    def sizes(self) -> np.ndarray:
        """Number of instances of each bag."""
        return np.diff(self.offsets)

    @property
    def bag_indices(self) -> np.ndarray:
        """Index of the bag of each instance, of shape (n_instances,)."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def name(self, bag: int | np.integer) -> str:
        """Return the name of a bag, or its index if bags have no names."""
        return str(bag) if self.names is None else str(self.names[bag])

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[bag] for bag in range(len(self)))

    def __getitem__(self, rows: Any) -> Any:
        """Return the instances of one bag for an integer, and ``Bags`` for a slice, a mask or a list of integers.

        >>> bags = Bags.from_list([[[1.0]], [[2.0], [3.0]], [[4.0]]])
        >>> bags[1].ravel()
        array([2., 3.])
        >>> bags[[True, False, True]].sizes
        array([1, 1])
        """
        if isinstance(rows, tuple):  # scikit-learn indexes with (rows, ...)
            if len(rows) != 2 or (rows[1] is not Ellipsis and rows[1] != slice(None)):
                raise IndexError("Bags have one axis; index them with integers, a slice or a mask")
            rows = rows[0]
        chosen = np.arange(len(self))[np.asarray(rows, dtype=int) if isinstance(rows, list) and not rows else rows]
        if chosen.ndim == 0:
            return self.instances[self.offsets[chosen] : self.offsets[chosen + 1]]
        if chosen.ndim > 1 or rows is None or isinstance(rows, bool | np.bool_):
            raise IndexError("Bags have one axis; index them with integers, a slice or a mask")
        return self._select(chosen)

    def _select(self, chosen: np.ndarray) -> "Bags":
        if len(chosen) == 1 or (len(chosen) > 0 and bool((np.diff(chosen) == 1).all())):
            return self._select_range(int(chosen[0]), int(chosen[-1]) + 1)
        sizes = self.offsets[chosen + 1] - self.offsets[chosen]
        offsets = compute_offsets(sizes)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        return self._index_arrays(offsets, chosen, rows)

    def _select_range(self, start: int, end: int) -> "Bags":
        """Select consecutive bags as views: rows are neither copied nor read from a memory-mapped file."""
        offsets = self.offsets[start : end + 1]
        first, last = offsets[0], offsets[-1]
        return self._index_arrays(offsets - first, slice(start, end), slice(first, last))

    def _index_arrays(self, offsets: np.ndarray, bags: np.ndarray | slice, rows: np.ndarray | slice) -> "Bags":
        arrays: dict[str, np.ndarray | None] = {"instances": self.instances[rows], "offsets": offsets}
        for names, index in ((PER_BAG, bags), (PER_INSTANCE, rows)):
            arrays |= {name: value[index] for name in names if (value := getattr(self, name)) is not None}
        return Bags.trusted(self.extractor, **arrays)

    def singletons(self) -> "Bags":
        """Return bags of one instance each: bag k contains instance k.

        Positions, instance labels and the extractor are kept. Labels, names, groups and tile sizes describe whole bags
        and are dropped. No instance is copied.

        Returns
        -------
        Bags
            Bags of one instance, ``n_instances`` of them.

        Examples
        --------
        >>> Bags.from_list([[[1.0], [2.0]], [[3.0]]], labels=[0, 1]).singletons()
        Bags: 3 bags, 3 instances of 1 float64, 1 to 1 per bag (median 1)
        """
        metadata = {name: getattr(self, name) for name in PER_INSTANCE}
        offsets = np.arange(self.n_instances + 1)
        return Bags.trusted(self.extractor, instances=self.instances, offsets=offsets, **metadata)

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> "Bags":
        """Apply a function to the instances of all bags at once.

        Parameters
        ----------
        function : callable
            Function of an array of shape (n_instances, ...) that returns an array with the same number of rows.

        Returns
        -------
        Bags
            Bags with the new instances and the same metadata.

        Examples
        --------
        >>> Bags.from_list([[[2.0]], [[4.0]]]).map(np.sqrt).instances.ravel()
        array([1.41421356, 2.        ])
        """
        mapped = np.asarray(function(self.instances))
        if mapped.shape[:1] != (self.n_instances,):
            raise InputError(
                f"the function returned shape {mapped.shape} for {self.n_instances} instances; it must return one row "
                "per instance"
            )
        return replace(self, instances=mapped)

    def replace(self, **fields: Any) -> "Bags":
        """Return the bags with some fields replaced; all fields are checked again.

        Parameters
        ----------
        **fields : array-like, str or None
            New values of fields; None removes an optional field.
        """
        return replace(self, **convert_fields(fields))

    def __repr__(self) -> str:
        return describe_in_line(self)

    def _repr_html_(self) -> str:
        return describe_in_html(self)
