"""Bags on disk: one folder of flat arrays, memory-mapped when read, sealed by SHA-256.

    instances.npy         rows of all bags laid end to end
    offsets.npy           first row of each bag, and the end
    bags.csv              name, label, group of each bag
    positions.npy         x, y of each instance, where there are
    instance_labels.npy   where there are
    manifest.json         sizes and SHA-256 of every file

Finiteness is checked when a folder is written and recorded in the manifest, so that reading touches no row.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.files import atomic_folder, read_manifest, sha256, write_manifest

KIND = "bagwise bags"
ARRAYS = ("positions", "instance_labels")
COLUMNS = {"names": "name", "labels": "label", "groups": "group"}


def save_bags(bags: Bags, folder: str | Path) -> None:
    """Write bags to a folder; it appears whole or not at all.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "bags"
    >>> save_bags(Bags.from_list([[[1.0]], [[2.0]]], labels=[0, 1]), folder)
    >>> load_bags(folder).labels
    array([0, 1])
    """
    with atomic_folder(Path(folder)) as draft:
        np.save(draft / "instances.npy", bags.instances, allow_pickle=False)
        np.save(draft / "offsets.npy", bags.offsets, allow_pickle=False)
        for name in ARRAYS:
            if (value := getattr(bags, name)) is not None:
                np.save(draft / f"{name}.npy", value, allow_pickle=False)
        kinds = _write_table(bags, draft / "bags.csv")
        write_manifest(draft, KIND, n_bags=bags.n_bags, n_instances=bags.n_instances, columns=kinds, finite=True)


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
    for name in ARRAYS:
        if f"{name}.npy" in manifest["files"]:
            arrays[name] = _open_array(folder / f"{name}.npy")
    if len(arrays["instances"]) != manifest["n_instances"] or len(arrays["offsets"]) != manifest["n_bags"] + 1:
        raise InputError(f"{folder}: the arrays do not fit the manifest; restore the folder from a copy")
    return Bags.trusted(**arrays)


def _open_array(path: Path, mapped: bool = False) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise InputError(f"{path} is damaged ({error}); restore it from a copy") from None


def _write_table(bags: Bags, path: Path) -> dict[str, str]:
    """Write bags.csv; returns the type of each column, without which "1" could be a number or a word."""
    columns = {title: getattr(bags, name) for name, title in COLUMNS.items() if getattr(bags, name) is not None}
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*(map(_cell, values) for values in columns.values()), strict=True))
    return {title: _kind(values, title) for title, values in columns.items()}


def _read_table(path: Path, kinds: dict[str, str]) -> dict[str, np.ndarray]:
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))[1:]
    columns = dict(zip(kinds, zip(*rows, strict=True), strict=True)) if kinds else {}
    fields = {title: name for name, title in COLUMNS.items()}
    return {fields[title]: _column(values, kinds[title]) for title, values in columns.items()}


def _kind(values: np.ndarray, title: str) -> str:
    kind = {"i": "int", "u": "int", "f": "float", "b": "bool", "U": "str", "O": "str"}.get(values.dtype.kind)
    if kind is None or (values.dtype.kind == "O" and not all(isinstance(value, str) for value in values)):
        raise InputError(f"the {title}s are {values.dtype}; use words, whole numbers, numbers or booleans")
    return kind


def _cell(value: Any) -> str:
    return repr(value.item()) if isinstance(value, np.number) else str(value)


def _column(values: tuple[str, ...], kind: str) -> np.ndarray:
    if kind == "bool":
        return np.array([value == "True" for value in values])
    return np.array(values, dtype={"int": np.int64, "float": np.float64, "str": str}[kind])
