"""A run is a folder: everything needed to judge, show and repeat a training, sealed by SHA-256.

parameters.json    the data, the estimator's parameters, the split: enough to repeat the run
environment.json   versions and machine
model/             the fitted estimator
history.csv        a line an epoch
training.csv       a line a bag that was learned from
predictions.csv    a line a test bag
groups.csv         a line a group (a patient) of test bags, where there are groups
weights.npy        the weight of each instance of the test bags, in their order
metrics.json       metrics of the test bags with intervals
manifest.json      sizes and SHA-256 of all of these
"""

import contextlib
import csv
import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.bags import Bags, fingerprint
from bagwise.errors import InputError
from bagwise.files import atomic, read_json
from bagwise.formats.blaming import blaming
from bagwise.formats.numpy_files import read_npy
from bagwise.manifests import read_sealed
from bagwise.runs.contents import (
    checked_history,
    checked_metrics,
    checked_parameters,
    checked_predictions,
    checked_training,
)
from bagwise.runs.parts import Parts, check_apart, split_source

KIND = "bagwise run"
PARAMETERS = "parameters.json"
CHECKPOINT = "checkpoint.safetensors"  # there while training goes on
TRAINING = "training.csv"
REPORT = "report.html"  # made from the rest, and made again at will
NEEDED = (
    *(PARAMETERS, "environment.json", "model/model.json", "history.csv"),
    *("predictions.csv", "weights.npy", "metrics.json"),
)


class Run:
    """A finished run, read from its folder; files are read when they are asked for."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if (self.folder / CHECKPOINT).exists() and not (self.folder / "manifest.json").exists():
            raise InputError(f"{self.folder} is a run that is not finished; go on with `bagwise train … --resume`")
        self.manifest = read_sealed(self.folder, KIND, NEEDED)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        with self._whole(PARAMETERS) as path:
            return checked_parameters(read_json(path))

    @cached_property
    def environment(self) -> dict[str, Any]:
        with self._whole("environment.json") as path:
            return dict(read_json(path))

    @cached_property
    def metrics(self) -> dict[str, Any]:
        with self._whole("metrics.json") as path:
            return checked_metrics(read_json(path))

    @cached_property
    def history(self) -> list[dict[str, float | None]]:
        """A dictionary an epoch; what was not measured is None."""
        with self._whole("history.csv") as path:
            return checked_history(read_table(path))

    @cached_property
    def training(self) -> list[dict[str, str]]:
        """A dictionary a bag that was learned from; the first runs did not write them down."""
        if not (self.folder / TRAINING).exists():
            return []
        with self._whole(TRAINING) as path:
            return checked_training(read_table(path))

    @cached_property
    def predictions(self) -> list[dict[str, str]]:
        """A dictionary a test bag."""
        with self._whole("predictions.csv") as path:
            return checked_predictions(read_table(path), self.classes)

    @cached_property
    def weights(self) -> np.ndarray:
        with self._whole("weights.npy") as path:
            weights = read_npy(path)
            if weights.shape != (self.offsets[-1],) or weights.dtype.kind != "f":
                raise ValueError(f"{weights.dtype} of shape {weights.shape} are not the weights of the test bags")
            return weights

    @cached_property
    def classes(self) -> list[str]:
        """The classes as they stand in the titles of predictions.csv."""
        with self._whole("model/model.json") as path:
            return [str(label) for label in read_json(path)["classes"]["values"]]

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

    @contextlib.contextmanager
    def _whole(self, name: str) -> Iterator[Path]:
        """The path of a file; whatever is wrong with its content is said of it."""
        with blaming(self.folder / name, "does not hold what a run consists of", "restore the run from a copy"):
            yield self.folder / name

    def check_unseen(self, bags: Bags, data: str) -> None:
        """Refuse bags of patients that the model learned from; without patients, warn of bags by their names."""
        if bags.groups is not None:
            check_apart((row["group"] for row in self.training if "group" in row), bags.groups, data)
        elif bags.names is not None and (known := {row["bag"] for row in self.training} & {*map(str, bags.names)}):
            warnings.warn(
                f"{len(known)} bags of '{data}' have the names of bags that the model learned from: "
                f"{', '.join(sorted(known)[:5])}{' …' * (len(known) > 5)}; if they are the same, scores are too good",
                stacklevel=2,
            )

    def parts(self) -> Parts:
        """The training and test bags, opened again from where they came."""
        with self._whole(PARAMETERS):
            return split_source(**self.parameters["data"])

    def test_bags(self) -> Bags:
        """The test bags; refused if the data changed since the run."""
        bags = self.parts().test
        if fingerprint(bags) != self.manifest.get("test_bags"):
            raise InputError(f"the data '{self.parameters['data']['data']}' changed since {self.folder} was trained")
        return bags


def write_table(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write dictionaries of the same keys as csv, atomically, one in memory at a time; numbers keep every digit."""
    coming = iter(rows)
    first = next(coming, {})
    with atomic(path) as draft, draft.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(first))
        writer.writeheader()
        writer.writerows(chain([first] if first else [], coming))


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a csv as a dictionary a line."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
