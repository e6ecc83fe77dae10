"""Writing a folder of bags one bag at a time: a thousand slides need the memory of one."""

import contextlib
import csv
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from bagwise.bags import Bags
from bagwise.bags.companions import kind_of
from bagwise.errors import InputError
from bagwise.files import atomic_folder
from bagwise.manifests import write_manifest

KIND = "bagwise bags"
PER_INSTANCE = ("positions", "instance_labels")
COLUMNS = {"names": "name", "labels": "label", "groups": "group", "tile_sizes": "tile_size"}


class BagWriter:
    """A folder of bags under construction; it appears when the block ends well, and not at all otherwise.

    >>> import tempfile
    >>> with BagWriter(Path(tempfile.mkdtemp()) / "bags") as writer:
    ...     writer.add(np.zeros((3, 2)), name="first", label=0)
    ...     writer.add(np.ones((1, 2)), name="second", label=1)
    """

    def __init__(self, folder: str | Path, extractor: str | None = None) -> None:
        self.folder = Path(folder)
        self.extractor = extractor
        self.sizes: list[int] = []
        self.empty: list[str] = []  # names of bags without an instance, so that nobody takes them for forgotten
        self.per_bag: dict[str, list[Any]] = {}
        self.per_instance: dict[str, list[np.ndarray]] = {}

    def __enter__(self) -> "BagWriter":
        self.stack = contextlib.ExitStack()
        self.draft = self.stack.enter_context(atomic_folder(self.folder, KIND))
        self.stream: BinaryIO = self.stack.enter_context((self.draft / "instances.npy").open("wb"))
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
        """Append a bag; ``per_bag`` are its name, label, group and tile_size, the same ones for every bag."""
        if unknown := per_bag.keys() - set(COLUMNS.values()):
            raise InputError(f"bags have no {', '.join(sorted(unknown))}; they have {', '.join(COLUMNS.values())}")
        called = str(per_bag.get("name", len(self.sizes)))
        bag = _alone(called, instances, positions=positions, instance_labels=instance_labels, **per_bag)
        instances = bag.instances
        per_instance = {name: getattr(bag, name) for name in PER_INSTANCE if getattr(bag, name) is not None}
        if self.sizes:
            self._check_alike(called, instances, per_bag, per_instance)
        else:
            self.shape, self.dtype = instances.shape[1:], instances.dtype
            write_header(self.stream, (0, *self.shape), self.dtype)
        self.stream.write(np.ascontiguousarray(instances, dtype=self.dtype).data)
        self.sizes.append(len(instances))
        for name, value in per_bag.items():
            self.per_bag.setdefault(name, []).append(called if name == "name" else value)
        for name, value in per_instance.items():
            self.per_instance.setdefault(name, []).append(value)

    def _check_alike(self, called: str, instances: np.ndarray, per_bag: dict[str, Any], per_instance: Any) -> None:
        """The bag is as those before: in the shape and type of instances, and in what comes with it."""
        if instances.shape[1:] != self.shape:
            raise InputError(f"bag '{called}' has instances of shape {instances.shape[1:]}, those before {self.shape}")
        if not np.can_cast(instances.dtype, self.dtype, "same_kind"):
            raise InputError(
                f"bag '{called}' holds {instances.dtype}, those before {self.dtype}; use one kind of number"
            )
        if per_bag.keys() != self.per_bag.keys() or per_instance.keys() != self.per_instance.keys():
            before = sorted([*self.per_bag, *self.per_instance])
            raise InputError(f"bag '{called}' comes with other companions than those before, which had {before}")

    def _finish(self) -> None:
        if not self.sizes:
            raise InputError(f"there are no bags to write to {self.folder}")
        self.stream.seek(0)
        write_header(self.stream, (sum(self.sizes), *self.shape), self.dtype)
        self.stream.close()
        offsets = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)
        write_array(self.draft / "offsets.npy", offsets)
        for name, parts in self.per_instance.items():
            write_array(self.draft / f"{name}.npy", np.concatenate(parts))
        kinds = _write_table(self.draft / "bags.csv", self.per_bag)
        facts: dict[str, Any] = {"n_bags": len(self.sizes), "n_instances": int(offsets[-1]), "columns": kinds}
        write_manifest(self.draft, KIND, **facts, empty=self.empty, extractor=self.extractor)


def write_array(path: Path, array: np.ndarray) -> None:
    """Write an npy file; unlike NumPy's own way, a full disk is told as what it is."""
    with path.open("wb") as stream:
        write_header(stream, array.shape, array.dtype)
        stream.write(np.ascontiguousarray(array).data)


def write_header(stream: BinaryIO, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """The beginning of an npy file; NumPy leaves room in it for the first axis to grow."""
    facts = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, facts)


def _alone(called: str, instances: Any, **companions: Any) -> Bags:
    """Bags of this bag alone, so that all is checked as ever; the message names the bag."""
    rows = np.asanyarray(instances)
    fields = {name: [companions.pop(title)] for name, title in COLUMNS.items() if title in companions}
    arrays: dict[str, Any] = {
        name: np.asarray(value) for name, value in {**companions, **fields}.items() if value is not None
    }
    offsets = np.array([0, len(rows) if rows.ndim else 0])
    try:
        return Bags(rows, offsets, **{"names": np.array([called]), **arrays})
    except InputError as error:
        text = str(error)
        raise InputError(text if f"'{called}'" in text else f"bag '{called}': {text}") from None


def _write_table(path: Path, columns: dict[str, list[Any]]) -> dict[str, str]:
    """Write bags.csv; returns the type of each column, without which "1" could be a number or a word."""
    if "name" in columns and len(set(columns["name"])) < len(columns["name"]):
        raise InputError("a name stands for more than one bag; names must be unique")
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*(map(_cell, values) for values in columns.values()), strict=True))
    return {title: kind_of(f"{title}s", np.fromiter(values, dtype=object)) for title, values in columns.items()}


def _cell(value: Any) -> str:
    return repr(value.item()) if isinstance(value, np.number) else str(value)
