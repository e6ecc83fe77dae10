"""Bags on disk: one folder of flat arrays, memory-mapped when read, sealed by SHA-256.

    instances.npy         rows of all bags laid end to end
    offsets.npy           first row of each bag, and the end
    bags.csv              name, label, group and tile size of each bag
    positions.npy         x, y of each instance, where there are
    instance_labels.npy   where there are
    manifest.json         sizes and SHA-256 of every file

Everything is checked when a folder is written, so that reading touches no row.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.files import read_manifest, sha256
from bagwise.writing import COLUMNS, KIND, PER_INSTANCE, BagWriter


def save_bags(bags: Bags, folder: str | Path) -> None:
    """Write bags to a folder; it appears whole or not at all.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "bags"
    >>> save_bags(Bags.from_list([[[1.0]], [[2.0]]], labels=[0, 1]), folder)
    >>> load_bags(folder).labels
    array([0, 1])
    """
    with BagWriter(folder, bags.extractor) as writer:
        for bag in range(len(bags)):
            rows = slice(bags.offsets[bag], bags.offsets[bag + 1])
            per_bag = {title: getattr(bags, name) for name, title in COLUMNS.items()}
            per_instance = {name: getattr(bags, name) for name in PER_INSTANCE}
            writer.add(
                bags.instances[rows],
                **{title: values[bag] for title, values in per_bag.items() if values is not None},
                **{name: values[rows] for name, values in per_instance.items() if values is not None},
            )


def load_bags(folder: str | Path) -> Bags:
    """Read bags from a folder; the instances stay on disk until they are used.

    Sizes of all files, and the SHA-256 of all but the instances, are compared with the manifest; ``bagwise check``
    compares the instances too.
    """
    folder = Path(folder)
    manifest = read_manifest(folder, KIND)
    for name in manifest["files"]:
        if name != "instances.npy" and sha256(folder / name) != manifest["files"][name]["sha256"]:
            raise InputError(f"{folder / name} changed since it was written (SHA-256); restore it or write it again")
    arrays: dict[str, Any] = {
        "instances": _open_array(folder / "instances.npy", mapped=True),
        "offsets": _open_array(folder / "offsets.npy"),
        **_read_table(folder / "bags.csv", manifest["columns"]),
    }
    for name in PER_INSTANCE:
        if f"{name}.npy" in manifest["files"]:
            arrays[name] = _open_array(folder / f"{name}.npy")
    if len(arrays["instances"]) != manifest["n_instances"] or len(arrays["offsets"]) != manifest["n_bags"] + 1:
        raise InputError(f"{folder}: the arrays do not fit the manifest; restore the folder from a copy")
    return Bags.trusted(manifest["extractor"], **arrays)


def _open_array(path: Path, mapped: bool = False) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise InputError(f"{path} is damaged ({error}); restore it from a copy") from None


def _read_table(path: Path, kinds: dict[str, str]) -> dict[str, np.ndarray]:
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))[1:]
    columns = dict(zip(kinds, zip(*rows, strict=True), strict=True)) if kinds else {}
    fields = {title: name for name, title in COLUMNS.items()}
    return {fields[title]: _column(values, kinds[title]) for title, values in columns.items()}


def _column(values: tuple[str, ...], kind: str) -> np.ndarray:
    if kind == "bool":
        return np.array([value == "True" for value in values])
    return np.array(values, dtype={"int": np.int64, "float": np.float64, "str": str}[kind])
