"""Writing of a bag folder, one bag at a time, so that the features of only one slide are in memory."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from bagwise.bags.arrays import compute_offsets
from bagwise.bags.bag_table import COLUMNS, split_metadata, write_bag_table
from bagwise.bags.bags import Bags
from bagwise.bags.checks import PER_INSTANCE
from bagwise.bags.feature_names import check_feature_names
from bagwise.bags.labels import LabelNames, make_label_row
from bagwise.errors import InputError
from bagwise.io import write_array, write_folder_atomically, write_manifest, write_npy_header

KIND = "bagwise bags"
INSTANCES, OFFSETS, TABLE = "instances.npy", "offsets.npy", "bags.csv"


class BagWriter:
    """Context manager that writes a folder one bag at a time; the folder appears if the block succeeds.

    Parameters
    ----------
    folder : str or Path
        Folder to write; an existing folder of bags is replaced.
    extractor : str or None, default=None
        Name of the feature extractor.
    feature_names : sequence of str or None, default=None
        Name of each feature.
    label_names : sequence of str or None, default=None
        Name of each of several labels; None takes them from the first label that is a mapping.

    Attributes
    ----------
    sizes : list of int
        Number of instances of each bag so far.
    empty : list of str
        Names of bags without instances, which are recorded in the folder; append to this list.

    Examples
    --------
    >>> import tempfile
    >>> with BagWriter(Path(tempfile.mkdtemp()) / "bags") as writer:
    ...     writer.add(np.zeros((3, 2)), name="first", label=0)
    ...     writer.add(np.ones((1, 2)), name="second", label=1)
    """

    def __init__(
        self,
        folder: str | Path,
        extractor: str | None = None,
        feature_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.extractor = extractor
        self.feature_names = feature_names
        self.label_names = None if label_names is None else tuple(label_names)
        self.sizes: list[int] = []
        self.empty: list[str] = []
        self.per_bag: dict[str, list[Any]] = {}
        self.per_instance: dict[str, list[np.ndarray]] = {}

    def __enter__(self) -> "BagWriter":
        self.stack = contextlib.ExitStack()
        self.temporary = self.stack.enter_context(write_folder_atomically(self.folder, KIND))
        self.stream: BinaryIO = self.stack.enter_context((self.temporary / INSTANCES).open("wb"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._finish()
        except BaseException as failure:
            self.stack.__exit__(type(failure), failure, failure.__traceback__)
            raise
        self.stack.__exit__(kind, error, trace)

    def add(
        self,
        instances: np.ndarray,
        *,
        positions: np.ndarray | None = None,
        instance_labels: np.ndarray | None = None,
        **per_bag: Any,
    ) -> None:
        """Append a bag.

        Parameters
        ----------
        instances : numpy.ndarray of shape (n_instances, ...)
            Instances of the bag.
        positions : numpy.ndarray of shape (n_instances, 2) or None, default=None
            Coordinates x and y of each instance, in level-0 pixels.
        instance_labels : numpy.ndarray of shape (n_instances,) or None, default=None
            Label of each instance.
        **per_bag : object
            Any of ``name``, ``label``, ``group`` and ``tile_size``; the same ones for every bag. A label is a scalar;
            a sequence, or a mapping of names to numbers or None, for several labels; or a mapping or a structured
            scalar with ``event`` and ``time``.
        """
        if unknown := per_bag.keys() - set(COLUMNS.values()):
            raise InputError(f"bags have no {', '.join(sorted(unknown))}; they have {', '.join(COLUMNS.values())}")
        name = str(per_bag.get("name", len(self.sizes)))
        given = per_bag | {"positions": positions, "instance_labels": instance_labels}
        bag = _check_bag(name, instances, self.label_names, **given)
        per_bag = split_metadata(per_bag, bag)
        instances = bag.instances
        per_instance = {field: getattr(bag, field) for field in PER_INSTANCE if getattr(bag, field) is not None}
        if self.sizes:
            self._check_consistent(name, instances, per_bag, per_instance)
        else:
            self.shape, self.dtype = instances.shape[1:], instances.dtype
            write_npy_header(self.stream, (0, *self.shape), self.dtype)
        self.stream.write(np.ascontiguousarray(instances, dtype=self.dtype).data)
        self.sizes.append(len(instances))
        self.label_names = bag.label_names
        for column, value in per_bag.items():
            self.per_bag.setdefault(column, []).append(name if column == "name" else value)
        for field, values in per_instance.items():
            self.per_instance.setdefault(field, []).append(values)

    def _check_consistent(self, name: str, instances: np.ndarray, per_bag: Any, per_instance: Any) -> None:
        """Check that a bag has the same shape, type and metadata as the previous bags."""
        if instances.shape[1:] != self.shape:
            raise InputError(
                f"bag '{name}' has instances of shape {instances.shape[1:]}, but the previous bags have {self.shape}; "
                "every instance must have the same shape"
            )
        if not np.can_cast(instances.dtype, self.dtype, "same_kind"):
            raise InputError(
                f"bag '{name}' has dtype {instances.dtype}, but the previous bags have {self.dtype}; use one dtype"
            )
        if per_bag.keys() != self.per_bag.keys() or per_instance.keys() != self.per_instance.keys():
            given, before = sorted([*per_bag, *per_instance]), sorted([*self.per_bag, *self.per_instance])
            raise InputError(
                f"bag '{name}' has {given}, but the previous bags have {before}; give the same metadata for every bag"
            )

    def _finish(self) -> None:
        if not self.sizes:
            raise InputError(f"there are no bags to write to {self.folder}; add at least one")
        self.stream.seek(0)
        write_npy_header(self.stream, (sum(self.sizes), *self.shape), self.dtype)
        self.stream.close()
        offsets = compute_offsets(self.sizes)
        write_array(self.temporary / OFFSETS, offsets)
        for field, parts in self.per_instance.items():
            write_array(self.temporary / f"{field}.npy", np.concatenate(parts))
        columns = write_bag_table(self.temporary / TABLE, self.per_bag)
        metadata: dict[str, Any] = {"n_bags": len(self.sizes), "n_instances": int(offsets[-1]), "columns": columns}
        feature_names = check_feature_names(self.feature_names, self.shape)
        if feature_names is not None:
            metadata["feature_names"] = list(feature_names)
        if self.label_names is not None:
            metadata["label_names"] = list(self.label_names)
        write_manifest(self.temporary, KIND, **metadata, empty=self.empty, extractor=self.extractor)


def _check_bag(bag_name: str, instances: Any, label_names: LabelNames | None, **metadata: Any) -> Bags:
    """Return a bag as ``Bags``, which checks it; errors name the bag."""
    rows = np.asanyarray(instances)
    per_bag: dict[str, Any] = {field: [metadata.pop(column)] for field, column in COLUMNS.items() if column in metadata}
    offsets = np.array([0, len(rows) if rows.ndim else 0])
    try:
        if "labels" in per_bag:
            per_bag["labels"], label_names = make_label_row(per_bag["labels"][0], label_names)
        fields = {"names": [bag_name], **metadata, **per_bag, "label_names": label_names}
        return Bags(rows, offsets, **fields)
    except InputError as error:
        message = str(error)
        raise InputError(message if f"'{bag_name}'" in message else f"bag '{bag_name}': {message}") from None
