"""A run is a folder: everything needed to judge, show and repeat a training, sealed by SHA-256.

parameters.json    the data, the estimator's parameters, the split: enough to repeat the run
environment.json   versions and machine
model/             the fitted estimator
history.csv        a line an epoch
predictions.csv    a line a test bag
groups.csv         a line a group (a patient) of test bags, where there are groups
weights.npy        the weight of each instance of the test bags, in their order
metrics.json       metrics of the test bags with intervals
manifest.json      sizes and SHA-256 of all of these
"""

import csv
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.bags import Bags, fingerprint
from bagwise.errors import InputError
from bagwise.files import atomic, read_json, read_manifest
from bagwise.runs.parts import Parts, split_source

KIND = "bagwise run"
CHECKPOINT = "checkpoint.safetensors"  # there while training goes on
REPORT = "report.html"  # made from the rest, and made again at will


class Run:
    """A finished run, read from its folder; files are read when they are asked for."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if (self.folder / CHECKPOINT).exists() and not (self.folder / "manifest.json").exists():
            raise InputError(f"{self.folder} is a run that is not finished; go on with `bagwise train … --resume`")
        self.manifest = read_manifest(self.folder, KIND)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        return read_json(self.folder / "parameters.json")

    @cached_property
    def environment(self) -> dict[str, Any]:
        return read_json(self.folder / "environment.json")

    @cached_property
    def metrics(self) -> dict[str, Any]:
        return read_json(self.folder / "metrics.json")

    @cached_property
    def history(self) -> list[dict[str, float | None]]:
        """A dictionary an epoch; what was not measured is None."""
        rows = read_table(self.folder / "history.csv")
        return [{name: float(value) if value else None for name, value in row.items()} for row in rows]

    @cached_property
    def predictions(self) -> list[dict[str, str]]:
        """A dictionary a test bag."""
        return read_table(self.folder / "predictions.csv")

    @cached_property
    def weights(self) -> np.ndarray:
        return np.load(self.folder / "weights.npy", allow_pickle=False)

    @cached_property
    def classes(self) -> list[str]:
        """The classes as they stand in the titles of predictions.csv."""
        return [str(label) for label in read_json(self.folder / "model" / "model.json")["classes"]["values"]]

    @property
    def probabilities(self) -> np.ndarray:
        """(n_bags, n_classes), columns as in ``classes``."""
        return np.array(
            [[float(row[f"probability {label}"]) for label in self.classes] for row in self.predictions]
        ).reshape(-1, len(self.classes))

    @property
    def targets(self) -> np.ndarray:
        """(n_bags,) number of the true class."""
        return np.array([self.classes.index(row["label"]) for row in self.predictions], dtype=int)

    @property
    def offsets(self) -> np.ndarray:
        """Where each test bag's weights begin."""
        return np.concatenate([[0], np.cumsum([int(row["n_instances"]) for row in self.predictions])]).astype(int)

    def parts(self) -> Parts:
        """The training and test bags, opened again from where they came."""
        return split_source(**self.parameters["data"])

    def test_bags(self) -> Bags:
        """The test bags; refused if the data changed since the run."""
        bags = self.parts().test
        if fingerprint(bags) != self.manifest.get("test_bags"):
            raise InputError(f"the data '{self.parameters['data']['data']}' changed since {self.folder} was trained")
        return bags


def write_table(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write dictionaries of the same keys as csv, atomically; numbers keep every digit."""
    rows = list(rows)
    with atomic(path) as draft, draft.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(rows)


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a csv as a dictionary a line."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
