"""Storage of bags in a folder: flat arrays that are memory-mapped when loaded and verified by their SHA-256.

    instances.npy         rows of all bags, one bag after the other
    offsets.npy           first row of each bag, and the number of rows
    bags.csv              name, label, group and tile size of each bag
    positions.npy         x, y of each instance, if known
    instance_labels.npy   label of each instance, if known
    manifest.json         size and SHA-256 of every file

A folder can be written one bag at a time, so that the features of only one slide are in memory. All content is checked
when a folder is written and again when it is loaded, except that instances larger than ``MAX_HASHED`` bytes are not
read then.
"""

import contextlib
import csv
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from bagwise.bags.arrays import as_read_only, compute_offsets
from bagwise.bags.bag_table import COLUMNS, read_bag_table, write_bag_table
from bagwise.bags.bags import Bags
from bagwise.bags.checks import PER_INSTANCE, check_finite, check_layout, check_metadata
from bagwise.bags.feature_names import check_feature_names
from bagwise.bags.row_views import RowView
from bagwise.errors import InputError
from bagwise.io import (
    MANIFEST,
    MappedArray,
    OpenFolder,
    check_disk_space,
    map_npy,
    read_folder,
    read_manifest,
    read_verified_manifest,
    write_array,
    write_folder_atomically,
    write_manifest,
    write_npy_header,
)

KIND = "bagwise bags"
INSTANCES, OFFSETS, TABLE = "instances.npy", "offsets.npy", "bags.csv"
FILES = (MANIFEST, INSTANCES, OFFSETS, TABLE, *(f"{name}.npy" for name in PER_INSTANCE))
MAX_HASHED = 1 << 30  # bytes of instances that are hashed when loaded, which takes about a second


def save_bags(bags: Bags, folder: str | Path) -> None:
    """Save bags to a folder, atomically.

    Parameters
    ----------
    bags : Bags
        Bags to save.
    folder : str or Path
        Folder to write; an existing folder of bags is replaced.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "bags"
    >>> save_bags(Bags.from_list([[[1.0]], [[2.0]]], labels=[0, 1]), folder)
    >>> load_bags(folder).labels
    array([0, 1])
    """
    check_disk_space(Path(folder), bags.nbytes)
    views = {name: view for name in PER_INSTANCE if (view := bags.view(name)) is not None}
    per_bag = {column: values for name, column in COLUMNS.items() if (values := getattr(bags, name)) is not None}
    with BagWriter(folder, bags.extractor, bags.feature_names) as writer:
        for bag, instances in enumerate(bags):
            writer.add(
                instances,
                **{column: values[bag] for column, values in per_bag.items()},
                **{name: view.read_bag(bag) for name, view in views.items()},
            )


def load_bags(folder: str | Path | OpenFolder) -> Bags:
    """Load bags from a folder; instances are memory-mapped.

    The SHA-256 of every file is compared with the manifest. If the instances are larger than 1 GB, only their size is
    compared, with a warning; ``bagwise check`` compares their SHA-256 too.

    Parameters
    ----------
    folder : str, Path or OpenFolder
        Folder written by ``save_bags`` or ``BagWriter``.

    Returns
    -------
    Bags

    Raises
    ------
    InputError
        If the folder is not a folder of bags, or is damaged.
    """
    return _load_bags(folder) if isinstance(folder, OpenFolder) else read_folder(Path(folder), _load_bags)


def _load_bags(opened: OpenFolder) -> Bags:
    """Load bags from one version of a folder: what is checked and mapped are the same open files."""
    for name in FILES:
        with contextlib.suppress(OSError):  # a missing file is reported by the manifest, if it is needed
            opened.open_file(name)
    folder, is_large = opened.path, _is_large(opened)
    manifest = read_verified_manifest(
        opened, KIND, needed=(INSTANCES, OFFSETS, TABLE), by_size=[INSTANCES] if is_large else []
    )
    try:
        extractor, arrays = manifest["extractor"], _read_arrays(opened, manifest)
        if (
            len(arrays["instances"].values) != manifest["n_instances"]
            or len(arrays["offsets"]) != manifest["n_bags"] + 1
        ):
            raise InputError("the arrays do not match the manifest")
        if not isinstance(extractor, str | None):
            raise InputError(f"the extractor is {extractor!r}, not a name")
        if not isinstance(manifest["columns"], dict):
            raise InputError(f"the columns of {TABLE} are {manifest['columns']!r}, not a mapping of names to types")
        return _build_bags(extractor, manifest.get("feature_names"), arrays, check_values=not is_large)
    except InputError as error:
        raise InputError(f"{folder}: {error}; restore the folder from a copy or create it again") from None
    except (KeyError, TypeError, ValueError, OverflowError, csv.Error) as error:
        raise InputError(
            f"{folder} has invalid content ({error!r}); restore it from a copy or create it again"
        ) from None


def read_empty_bags(folder: str | Path | OpenFolder) -> tuple[str, ...]:
    """Return the names of the empty bags of a folder, which are recorded but are not loaded.

    Parameters
    ----------
    folder : str, Path or OpenFolder
        Folder of bags.

    Returns
    -------
    tuple of str
        Names of bags without instances.
    """
    if not isinstance(folder, OpenFolder):
        return read_folder(Path(folder), read_empty_bags)
    names = read_manifest(folder, KIND).get("empty", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{folder.path}: its manifest does not list the names of empty bags; create the folder again")
    return tuple(names)


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
        self, folder: str | Path, extractor: str | None = None, feature_names: Sequence[str] | None = None
    ) -> None:
        self.folder = Path(folder)
        self.extractor = extractor
        self.feature_names = feature_names
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
            Any of ``name``, ``label``, ``group`` and ``tile_size``; the same ones for every bag.
        """
        if unknown := per_bag.keys() - set(COLUMNS.values()):
            raise InputError(f"bags have no {', '.join(sorted(unknown))}; they have {', '.join(COLUMNS.values())}")
        name = str(per_bag.get("name", len(self.sizes)))
        bag = _check_bag(name, instances, positions=positions, instance_labels=instance_labels, **per_bag)
        instances = bag.instances
        per_instance = {field: getattr(bag, field) for field in PER_INSTANCE if getattr(bag, field) is not None}
        if self.sizes:
            self._check_consistent(name, instances, per_bag, per_instance)
        else:
            self.shape, self.dtype = instances.shape[1:], instances.dtype
            write_npy_header(self.stream, (0, *self.shape), self.dtype)
        self.stream.write(np.ascontiguousarray(instances, dtype=self.dtype).data)
        self.sizes.append(len(instances))
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
        write_manifest(self.temporary, KIND, **metadata, empty=self.empty, extractor=self.extractor)


def _check_bag(bag_name: str, instances: Any, **metadata: Any) -> Bags:
    """Return a bag as ``Bags``, which checks it; errors name the bag."""
    rows = np.asanyarray(instances)
    per_bag = {field: [metadata.pop(column)] for field, column in COLUMNS.items() if column in metadata}
    arrays: dict[str, Any] = {
        field: np.asarray(value) for field, value in {**metadata, **per_bag}.items() if value is not None
    }
    offsets = np.array([0, len(rows) if rows.ndim else 0])
    try:
        return Bags(rows, offsets, **{"names": np.array([bag_name]), **arrays})
    except InputError as error:
        message = str(error)
        raise InputError(message if f"'{bag_name}'" in message else f"bag '{bag_name}': {message}") from None


def _is_large(opened: OpenFolder) -> bool:
    path = opened.path / INSTANCES
    try:
        is_large = opened.get_size(INSTANCES) > MAX_HASHED
    except OSError:  # it is missing, which the manifest reports
        return False
    if is_large:
        warnings.warn(
            f"only the size of {path} is compared with its manifest; to compare its content too, run: "
            f"bagwise check {path.parent}",
            stacklevel=5,
        )
    return is_large


def _build_bags(extractor: str | None, feature_names: Any, fields: dict[str, Any], check_values: bool) -> Bags:
    """Create bags from arrays and mapped files; the instances are read only to check their values."""
    offsets, names = fields["offsets"], fields.get("names")
    arrays = {name: value.values if isinstance(value, MappedArray) else value for name, value in fields.items()}
    check_layout(arrays["instances"], offsets, names)
    check_metadata(arrays, offsets, names)
    feature_names = check_feature_names(feature_names, arrays["instances"].shape[1:])
    if check_values:
        check_finite(arrays["instances"], offsets, names)
    mapped = {name: value for name, value in fields.items() if isinstance(value, MappedArray)}
    views: dict[str, Any] = {name: RowView.pack(value.values, offsets, value.file) for name, value in mapped.items()}
    return Bags.trusted(**arrays | views, extractor=extractor, feature_names=feature_names)


def _read_arrays(opened: OpenFolder, manifest: dict[str, Any]) -> dict[str, Any]:
    listed = [name for name in PER_INSTANCE if f"{name}.npy" in manifest["files"]]

    def map_file(name: str) -> MappedArray:
        return map_npy(opened.path / name, opened.open_file(name))

    return {
        "instances": map_file(INSTANCES),
        "offsets": as_read_only(map_file(OFFSETS).values.astype(np.int64)),
        **read_bag_table(opened.open_file(TABLE), manifest["columns"]),
        **{name: map_file(f"{name}.npy") for name in listed},
    }
