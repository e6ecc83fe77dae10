"""Writing a folder of bags one bag at a time: a thousand slides need the memory of one."""

import contextlib
import csv
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from bagwise.bags.checks import check_finite
from bagwise.errors import InputError
from bagwise.files import atomic_folder, write_manifest

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
        called = str(per_bag.get("name", len(self.sizes)))
        companions = {"positions": positions, "instance_labels": instance_labels}
        per_instance = {name: value for name, value in companions.items() if value is not None}
        self._check(called, instances, per_bag, per_instance)
        if not self.sizes:
            self.shape, self.dtype = instances.shape[1:], instances.dtype
            self._write_header(0)
        self.stream.write(np.ascontiguousarray(instances, dtype=self.dtype).data)
        self.sizes.append(len(instances))
        for name, value in per_bag.items():
            self.per_bag.setdefault(name, []).append(value)
        for name, value in per_instance.items():
            self.per_instance.setdefault(name, []).append(value)

    def _check(self, called: str, instances: np.ndarray, per_bag: dict[str, Any], per_instance: dict[str, Any]) -> None:
        if len(instances) == 0:
            raise InputError(f"bag '{called}' is without instances; drop empty bags before writing")
        if unknown := per_bag.keys() - set(COLUMNS.values()):
            raise InputError(f"bags have no {', '.join(sorted(unknown))}; they have {', '.join(COLUMNS.values())}")
        check_finite(instances, np.array([0, len(instances)]), [called])
        for name, value in per_instance.items():
            if len(value) != len(instances):
                raise InputError(f"bag '{called}' has {len(value)} {name} for {len(instances)} instances")
        if self.sizes and instances.shape[1:] != self.shape:
            raise InputError(f"bag '{called}' has instances of shape {instances.shape[1:]}, those before {self.shape}")
        if self.sizes and not np.can_cast(instances.dtype, self.dtype, "same_kind"):
            raise InputError(
                f"bag '{called}' holds {instances.dtype}, those before {self.dtype}; use one kind of number"
            )
        if self.sizes and (per_bag.keys() != self.per_bag.keys() or per_instance.keys() != self.per_instance.keys()):
            before = sorted([*self.per_bag, *self.per_instance])
            raise InputError(f"bag '{called}' comes with other companions than those before, which had {before}")

    def _write_header(self, rows: int) -> None:
        """NumPy leaves room in the header for the first axis to grow."""
        header = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": (rows, *self.shape),
        }
        np.lib.format.write_array_header_1_0(self.stream, header)

    def _finish(self) -> None:
        if not self.sizes:
            raise InputError(f"there are no bags to write to {self.folder}")
        self.stream.seek(0)
        self._write_header(sum(self.sizes))
        self.stream.close()
        offsets = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)
        np.save(self.draft / "offsets.npy", offsets, allow_pickle=False)
        for name, parts in self.per_instance.items():
            np.save(self.draft / f"{name}.npy", np.concatenate(parts), allow_pickle=False)
        kinds = _write_table(self.draft / "bags.csv", self.per_bag)
        facts: dict[str, Any] = {"n_bags": len(self.sizes), "n_instances": int(offsets[-1]), "columns": kinds}
        write_manifest(self.draft, KIND, **facts, extractor=self.extractor, finite=True)


def _write_table(path: Path, columns: dict[str, list[Any]]) -> dict[str, str]:
    """Write bags.csv; returns the type of each column, without which "1" could be a number or a word."""
    if "name" in columns and len(set(map(str, columns["name"]))) < len(columns["name"]):
        raise InputError("a name stands for more than one bag; names must be unique")
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*(map(_cell, values) for values in columns.values()), strict=True))
    return {title: _kind(values, title) for title, values in columns.items()}


def _kind(values: list[Any], title: str) -> str:
    for kind, types in (
        ("str", str),
        ("bool", bool | np.bool_),
        ("int", int | np.integer),
        ("float", int | float | np.integer | np.floating),
    ):
        if all(isinstance(value, types) for value in values):
            return kind
    raise InputError(f"the {title}s are {type(values[0]).__name__}s; use words, whole numbers, numbers or booleans")


def _cell(value: Any) -> str:
    return repr(value.item()) if isinstance(value, np.number) else str(value)
