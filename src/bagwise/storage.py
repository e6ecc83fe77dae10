"""Bags on disk: one folder of flat arrays, memory-mapped when read, sealed by SHA-256.

    instances.npy         rows of all bags laid end to end
    offsets.npy           first row of each bag, and the end
    bags.csv              name, label, group and tile size of each bag
    positions.npy         x, y of each instance, where there are
    instance_labels.npy   where there are
    manifest.json         sizes and SHA-256 of every file

Everything is checked when a folder is written, and again when it is read: but of instances larger than ``HASHED`` no
row is touched.
"""

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.bags.checks import check_layout
from bagwise.bags.companions import check_companions
from bagwise.errors import InputError
from bagwise.files import check_room
from bagwise.manifests import read_manifest, read_sealed
from bagwise.writing import COLUMNS, KIND, PER_INSTANCE, BagWriter

INSTANCES = "instances.npy"
NEEDED = (INSTANCES, "offsets.npy", "bags.csv")
HASHED = 1 << 30  # bytes of instances that every load reads: about a second


def save_bags(bags: Bags, folder: str | Path) -> None:
    """Write bags to a folder; it appears whole or not at all.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "bags"
    >>> save_bags(Bags.from_list([[[1.0]], [[2.0]]], labels=[0, 1]), folder)
    >>> load_bags(folder).labels
    array([0, 1])
    """
    check_room(Path(folder), bags.instances.nbytes)
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

    Every file is compared with its SHA-256 in the manifest; instances of more than a gigabyte by their size alone,
    which a warning says: ``bagwise check`` compares them too.
    """
    folder = Path(folder)
    large = _is_large(folder / INSTANCES)
    manifest = read_sealed(folder, KIND, NEEDED, by_size=[INSTANCES] if large else [])
    try:
        extractor, arrays = manifest["extractor"], _arrays(folder, manifest)
        if len(arrays["instances"]) != manifest["n_instances"] or len(arrays["offsets"]) != manifest["n_bags"] + 1:
            raise InputError("the arrays do not fit the manifest")
        if not isinstance(extractor, str | None):
            raise InputError(f"the extractor is {extractor!r}, not a name")
        return _unread(extractor, arrays) if large else Bags(**arrays, extractor=extractor)
    except InputError as error:
        raise InputError(f"{folder}: {error}; restore the folder from a copy or make it again") from None
    except (KeyError, TypeError, ValueError, OverflowError, csv.Error) as error:
        raise InputError(f"{folder} is not what bagwise writes ({error!r}); restore it or make it again") from None


def empty_bags(folder: str | Path) -> tuple[str, ...]:
    """The names of bags that had no instance when the folder was written, and are not among its bags."""
    names = read_manifest(Path(folder), KIND).get("empty", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{folder}: its manifest does not list the names of empty bags; make the folder again")
    return tuple(names)


def _is_large(path: Path) -> bool:
    large = path.is_file() and path.stat().st_size > HASHED
    if large:
        warnings.warn(
            f"{path} is compared with its manifest by its size alone; bagwise check {path.parent} reads it whole",
            stacklevel=3,
        )
    return large


def _unread(extractor: str | None, arrays: dict[str, Any]) -> Bags:
    """Bags whose layout and companions are checked, and whose instances are not read."""
    check_layout(arrays["instances"], arrays["offsets"], arrays.get("names"))
    bags = Bags.trusted(extractor, **arrays)
    check_companions(bags)
    return bags


def _arrays(folder: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "instances": _mapped(folder / INSTANCES),
        "offsets": np.array(_mapped(folder / "offsets.npy")),
        **_read_table(folder / "bags.csv", manifest["columns"]),
    }
    there = [name for name in PER_INSTANCE if f"{name}.npy" in manifest["files"]]
    return arrays | {name: np.array(_mapped(folder / f"{name}.npy")) for name in there}


def _mapped(path: Path) -> np.ndarray:
    """An array left on disk: a file that claims more than it holds is refused before any memory is set aside."""
    try:
        return np.lib.format.open_memmap(path, mode="r")  # np.load would open other kinds of files too
    except Exception as error:  # NumPy reads the header as Python: its errors are those of a parser
        raise InputError(f"{path} is damaged ({error})") from None


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
