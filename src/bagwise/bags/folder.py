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
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.bags.arrays import as_read_only
from bagwise.bags.bag_table import COLUMNS, read_bag_table
from bagwise.bags.bag_writer import INSTANCES, KIND, OFFSETS, TABLE, BagWriter
from bagwise.bags.bags import Bags
from bagwise.bags.checks import PER_INSTANCE, check_finite, check_layout, check_metadata
from bagwise.bags.feature_names import check_feature_names
from bagwise.bags.labels import check_label_names
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
)

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
    with BagWriter(folder, bags.extractor, bags.feature_names, bags.label_names) as writer:
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
        return _build_bags(manifest, arrays, check_values=not is_large)
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


def _build_bags(manifest: dict[str, Any], fields: dict[str, Any], check_values: bool) -> Bags:
    """Create bags from arrays and mapped files; the instances are read only to check their values."""
    offsets, names = fields["offsets"], fields.get("names")
    arrays = {name: value.values if isinstance(value, MappedArray) else value for name, value in fields.items()}
    check_layout(arrays["instances"], offsets, names)
    check_metadata(arrays, offsets, names)
    shared = {
        "extractor": manifest["extractor"],
        "feature_names": check_feature_names(manifest.get("feature_names"), arrays["instances"].shape[1:]),
        "label_names": check_label_names(manifest.get("label_names"), fields.get("labels")),
    }
    if check_values:
        check_finite(arrays["instances"], offsets, names)
    mapped = {name: value for name, value in fields.items() if isinstance(value, MappedArray)}
    views: dict[str, Any] = {name: RowView.pack(value.values, offsets, value.file) for name, value in mapped.items()}
    return Bags.trusted(**arrays | views, **shared)


def _read_arrays(opened: OpenFolder, manifest: dict[str, Any]) -> dict[str, Any]:
    listed = [name for name in PER_INSTANCE if f"{name}.npy" in manifest["files"]]

    def map_file(name: str) -> MappedArray:
        return map_npy(opened.path / name, opened.open_file(name))

    return {
        "instances": map_file(INSTANCES),
        "offsets": as_read_only(map_file(OFFSETS).values.astype(np.int64)),
        **read_bag_table(opened.open_file(TABLE), manifest["columns"], manifest.get("label_names")),
        **{name: map_file(f"{name}.npy") for name in listed},
    }
