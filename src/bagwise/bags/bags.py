"""Bags: many bags of instances in one packed, immutable structure.

    instances  (n_instances, …)   rows of all bags, one bag after the other, in memory or memory-mapped
    offsets    (n_bags + 1,)      bag b has the rows offsets[b] … offsets[b + 1] − 1

A selection of bags is a ``Bags`` too, and a view of the same rows: nothing is copied until rows are read. Batches need
no padding, no masks and no collate function.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from bagwise.bags.arrays import (
    PER_BAG,
    PER_INSTANCE,
    as_array,
    as_read_only,
    compute_offsets,
    convert_fields,
    convert_metadata,
)
from bagwise.bags.bag_lists import pack_list
from bagwise.bags.checks import check_finite, check_layout, check_metadata
from bagwise.bags.concatenation import concatenate_fields
from bagwise.bags.description import describe_in_html, describe_in_line
from bagwise.bags.feature_names import FeatureNames, check_feature_names
from bagwise.bags.frames import arrays_from_frame
from bagwise.bags.labels import LabelNames, check_label_names, count_columns
from bagwise.bags.rows import VIEWED, BagRows, resolve_rows
from bagwise.errors import InputError

OF_FEATURES = ("extractor", "feature_names")
SHARED = (*OF_FEATURES, "label_names")  # fields that are the same for all bags
FIELDS = ("instances", "offsets", *PER_BAG, *PER_INSTANCE, *SHARED)
NO_METADATA = dict.fromkeys((*PER_BAG, *SHARED))


class Bags(BagRows):
    """Packed bags of instances, with optional labels and other metadata.

    Arrays are not copied: if the caller modifies them later, the bags change too. Labels and groups are strings,
    integers, floats or booleans, all of one type. A bag may also have several labels, which are numbers or booleans
    (NaN if unknown), or the labels of survival: the fields ``event`` (bool) and ``time`` (float above 0).

    Parameters
    ----------
    instances : numpy.ndarray of shape (n_instances, ...)
        Instances of all bags: vectors, or images of shape (height, width) or (height, width, channels).
    offsets : numpy.ndarray of shape (n_bags + 1,)
        First row of each bag, and the number of instances.
    labels : numpy.ndarray of shape (n_bags,) or (n_bags, k), or None, default=None
        Label of each bag, or several; a structured array with the fields event and time for survival.
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
    feature_names : sequence of str or None, default=None
        Name of each feature. A trained model finds its features by name, in any order, and rejects other features.
    label_names : sequence of str or None, default=None
        Name of each column of labels of shape (n_bags, k).

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

    labels: np.ndarray | None
    names: np.ndarray | None
    groups: np.ndarray | None
    tile_sizes: np.ndarray | None
    extractor: str | None
    feature_names: FeatureNames | None
    label_names: LabelNames | None

    def __init__(
        self,
        instances: Any,
        offsets: Any,
        labels: Any = None,
        names: Any = None,
        groups: Any = None,
        positions: Any = None,
        instance_labels: Any = None,
        tile_sizes: Any = None,
        extractor: str | None = None,
        feature_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        per_bag = {"labels": labels, "names": names, "groups": groups, "tile_sizes": tile_sizes}
        per_instance = {"positions": positions, "instance_labels": instance_labels}
        instances, offsets = as_array("instances", instances), as_array("offsets", offsets)
        metadata = convert_metadata({**per_bag, **per_instance})
        check_layout(instances, offsets, metadata.get("names"))
        check_metadata(metadata, offsets, metadata.get("names"))
        check_finite(instances, offsets, metadata.get("names"))
        feature_names = check_feature_names(feature_names, instances.shape[1:])
        label_names = check_label_names(label_names, metadata.get("labels"))
        shared = {"extractor": extractor, "feature_names": feature_names, "label_names": label_names}
        self._set(offsets.astype(np.int64), {"instances": instances, **metadata, **shared})

    def _set(self, offsets: np.ndarray, fields: dict[str, Any]) -> None:
        self._set_rows(offsets, {name: fields[name] for name in VIEWED if name in fields})
        self.__dict__.update(NO_METADATA, **{name: fields[name] for name in SHARED if name in fields})
        self.__dict__.update({name: as_read_only(fields[name]) for name in PER_BAG if name in fields})

    @classmethod
    def trusted(cls, offsets: np.ndarray, **fields: Any) -> "Bags":
        """Create bags without checks, from arrays or views that were checked before, such as a selection of bags.

        Parameters
        ----------
        offsets : numpy.ndarray of shape (n_bags + 1,)
            First row of each bag, and the number of instances.
        **fields : numpy.ndarray, RowView, str, tuple or None
            Fields of ``Bags``; ``instances`` are required. Fields with one value per instance may be views of the same
            offsets.
        """
        bags = object.__new__(cls)
        bags._set(offsets, {name: value for name, value in fields.items() if value is not None})
        return bags

    @classmethod
    def from_list(cls, bags: Iterable[Any], labels: Any = None, **metadata: Any) -> "Bags":
        """Pack a list of arrays, data frames or sparse matrices, one per bag.

        Columns of data frames name the features and are aligned by name. Sparse matrices become dense.

        Parameters
        ----------
        bags : iterable of array-like, data frame or sparse matrix, of shape (n_instances, ...)
            Instances of each bag.
        labels : array-like of shape (n_bags,) or (n_bags, k), or None, default=None
            Label of each bag, or several.
        **metadata : array-like, str or None
            Other fields of ``Bags``.

        Examples
        --------
        >>> Bags.from_list([[[0.0]], [[1.0], [2.0]]]).sizes
        array([1, 2])
        """
        return cls(**pack_list(bags, metadata.get("names")) | convert_fields({"labels": labels, **metadata}))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        bag: str,
        label: str | Sequence[str] | None = None,
        group: str | None = None,
        instance_label: str | None = None,
        time: str | None = None,
        event: str | None = None,
        censorship: str | None = None,
    ) -> "Bags":
        """Pack a data frame with one row per instance; all columns without another role are features.

        The rows of a bag need not be adjacent. Bags are ordered by their first row. Columns name the features.

        Parameters
        ----------
        frame : data frame
            Data frame of pandas, polars or another library.
        bag : str
            Name of the column with the name of the bag.
        label : str, sequence of str or None, default=None
            Name of the column with the label of the bag, which must be the same in all of its rows; None looks for
            ``label``, ``y``, ``target`` or ``class``. A sequence names several numeric labels, unknown if missing.
        group : str or None, default=None
            Name of the column with the group of the bag, which must be the same in all of its rows; None looks for
            ``group``, ``case_id``, ``patient`` …
        instance_label : str or None, default=None
            Name of the column with the label of the instance; None looks for ``instance_label``.
        time, event, censorship : str or None, default=None
            Names of the columns of survival labels: the time, and either the event or the censorship (1 − event).

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"id": ["a", "b", "a"], "y": [1, 0, 1], "x": [0.5, 1.5, 2.5]})
        >>> bags = Bags.from_frame(table, bag="id", label="y")
        >>> bags.names, bags.feature_names
        (array(['a', 'b'], dtype='<U1'), ('x',))
        """
        return cls(**arrays_from_frame(frame, bag, label, group, instance_label, time, event, censorship))

    @classmethod
    def concatenate(cls, parts: Sequence["Bags"]) -> "Bags":
        """Concatenate several ``Bags``; optional fields are kept only if every part has them.

        Features are aligned by name if every part has feature names.

        Parameters
        ----------
        parts : sequence of Bags
            Bags to concatenate, at least one; all must have the same instance shape, extractor and label columns.

        Returns
        -------
        Bags
        """
        offsets, fields = concatenate_fields(parts, Bags)
        return cls.trusted(offsets, **fields)

    def name(self, bag: int | np.integer) -> str:
        """Return the name of a bag, or its index if bags have no names."""
        return str(bag) if self.names is None else str(self.names[bag])

    def __getitem__(self, rows: Any) -> Any:
        """Return the instances of one bag for an integer, and ``Bags`` for a slice, a mask or a list of integers.

        >>> bags = Bags.from_list([[[1.0]], [[2.0], [3.0]], [[4.0]]])
        >>> bags[1].ravel()
        array([2., 3.])
        >>> bags[[True, False, True]].sizes
        array([1, 1])
        """
        chosen = resolve_rows(rows, len(self))
        return self._rows["instances"].read_bag(chosen) if isinstance(chosen, int) else self._select(chosen)

    def _select(self, chosen: np.ndarray | slice) -> "Bags":
        offsets = as_read_only(compute_offsets(self.offsets[1:][chosen] - self.offsets[:-1][chosen]))
        bags = object.__new__(Bags)  # without Bags.trusted, because every batch is a selection
        bags.__dict__.update(self.__dict__)
        for name in PER_BAG:
            if (values := bags.__dict__[name]) is not None:
                bags.__dict__[name] = as_read_only(values[chosen])
        rows = {name: view.select(chosen, offsets) for name, view in self._rows.items()}
        bags.__dict__.update(offsets=offsets, _rows=rows)
        return bags

    def _get_fields(self, names: Sequence[str]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def singletons(self) -> "Bags":
        """Return bags of one instance each: bag k contains instance k.

        Positions, instance labels, feature names and the extractor are kept. Labels, names, groups and tile sizes
        describe whole bags and are dropped. No instance is copied.

        Returns
        -------
        Bags
            Bags of one instance, ``n_instances`` of them.

        Examples
        --------
        >>> Bags.from_list([[[1.0], [2.0]], [[3.0]]], labels=[0, 1]).singletons()
        Bags: 3 bags, 3 instances of 1 float64, 1 to 1 per bag (median 1)
        """
        offsets = as_read_only(np.arange(self.n_instances + 1))
        rows = {name: view.split_rows(offsets) for name, view in self._rows.items()}
        return Bags.trusted(offsets, **rows, **self._get_fields(OF_FEATURES))

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> "Bags":
        """Apply a function to the instances of all bags at once.

        Feature names are kept if the function does not change the shape of an instance.

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
        names = self.feature_names if mapped.shape[1:] == self.instance_shape else None
        return self.replace(instances=mapped, feature_names=names)

    def replace(self, **fields: Any) -> "Bags":
        """Return the bags with some fields replaced; the new values are checked, and other fields are not copied.

        Label names are kept if new labels have as many columns.

        Parameters
        ----------
        **fields : array-like, str or None
            New values of fields; None removes an optional field.
        """
        if unknown := fields.keys() - set(FIELDS):
            raise TypeError(f"Bags have no field {', '.join(sorted(unknown))}; they have {', '.join(FIELDS)}")
        fields = convert_fields(fields)
        if "labels" in fields and count_columns(fields["labels"]) != count_columns(self.labels):
            fields.setdefault("label_names", None)
        if "offsets" in fields:
            return Bags(**self._get_fields(FIELDS) | fields)
        if fields.get("instances", ()) is None:
            raise InputError("instances cannot be removed; give an array of shape (n_instances, …)")
        shared = {name: fields.pop(name, getattr(self, name)) for name in SHARED}
        changed = convert_metadata(fields)
        kept = self._get_fields(PER_BAG) | self._rows
        merged = {**{name: kept[name] for name in kept if name not in fields}, **changed}
        if "instances" in fields:
            check_layout(changed["instances"], self.offsets, merged.get("names"))
            check_finite(changed["instances"], self.offsets, merged.get("names"))
        check_metadata(changed, self.offsets, merged.get("names"))
        shared["feature_names"] = check_feature_names(shared["feature_names"], merged["instances"].shape[1:])
        shared["label_names"] = check_label_names(shared["label_names"], merged.get("labels"))
        return Bags.trusted(self.offsets, **merged, **shared)

    def load(self) -> "Bags":
        """Return the bags with all rows in memory, and none in a file.

        Returns
        -------
        Bags
            Equal bags, whose rows are packed in new arrays.
        """
        rows = {name: np.array(view.read()) for name, view in self._rows.items()}
        return Bags.trusted(self.offsets, **rows, **self._get_fields((*PER_BAG, *SHARED)))

    def __repr__(self) -> str:
        return describe_in_line(self)

    def _repr_html_(self) -> str:
        return describe_in_html(self)
