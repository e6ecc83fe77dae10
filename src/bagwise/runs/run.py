"""A run folder: everything needed to evaluate, inspect and repeat a training run.

parameters.json    data, parameters of the estimator, split: enough to repeat the run
environment.json   versions and machine
model/             the fitted estimator
history.csv        one row per epoch, if the method is trained in epochs
screening.csv      one row per method that was tried on held-out training bags, if the model is a vote of methods
training.csv       one row per training or validation bag
predictions.csv    one row per test bag
groups.csv         one row per group (e.g. patient) of test bags, if there are groups
weights.npy        the weight of each instance of the test bags, in their order
metrics.json       metrics of the test bags, with intervals
baselines.json     metrics of simple methods on the same split, unless they were skipped
manifest.json      size and SHA-256 of each of these files
"""

import contextlib
import warnings
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.arguments import canonicalize_name
from bagwise.bags import Bags, fingerprint_bags
from bagwise.errors import InputError, translate_errors
from bagwise.estimators import DESCRIPTION, BagEstimator
from bagwise.io import MANIFEST, read_csv, read_json, read_npy, read_verified_manifest
from bagwise.runs.file_checks import (
    check_baselines,
    check_history,
    check_metrics,
    check_network,
    check_parameters,
    check_predictions,
    check_screening,
    check_training,
)
from bagwise.runs.parts import RunParts, check_disjoint_groups, split_source
from bagwise.runs.predictions import read_label
from bagwise.runs.run_description import build_run_estimator
from bagwise.targets import restore_target

KIND = "bagwise run"
PARAMETERS = "parameters.json"
CHECKPOINT = "checkpoint.safetensors"  # only while the run is not finished
TRAINING = "training.csv"
HISTORY = "history.csv"  # only of methods that are trained in epochs
SCREENING = "screening.csv"  # only of methods that try others
BASELINES = "baselines.json"  # only if baselines were evaluated
REPORT = "report.html"  # generated from the other files, so it is not in the manifest
REQUIRED = (
    *(PARAMETERS, "environment.json", "model/model.json"),
    *("predictions.csv", "weights.npy", "metrics.json"),
)


class Run:
    """A finished run, read from its folder. Files are read and checked when they are first used.

    Parameters
    ----------
    folder : str or Path
        The run folder.

    Attributes
    ----------
    folder : Path
        The run folder.
    manifest : dict
        Sizes and SHA-256 of the files, and the fingerprint of the test bags.
    parameters : dict
        ``{"data": …, "method": …, "parameters": …}``: arguments of ``split_source`` and of the estimator.
    environment : dict
        Versions and machine.
    metrics : dict
        Metrics of the test bags.
    baselines : dict
        Metrics of the test bags for each baseline, without intervals; empty if baselines were skipped.
    history : list of dict
        One dictionary per epoch, with None for values that were not measured; empty for methods without epochs.
    screening : list of dict
        Name ("method"), weight, estimated duration and metrics of each method that was tried on held-out training bags;
        empty for methods that do not try others.
    training : list of dict
        One dictionary per training or validation bag; empty if an early version of bagwise wrote the run.
    predictions : list of dict
        One dictionary per test bag.
    weights : ndarray of shape (n_instances,)
        Weights of the instances of the test bags.
    network : dict
        Level, pooling, encoder, averaging, number of averaged networks and instance shape of a network; not for other
        methods.
    target : Target
        The target of the model.
    outputs : ndarray of shape (n_bags, n_outputs)
        Outputs of the model for the test bags; columns are in the order of ``target.outputs``.
    targets : ndarray of shape (n_bags, ...)
        Encoded target of each test bag.
    offsets : ndarray of shape (n_bags + 1,)
        Start of each test bag in ``weights``, and the end.

    Raises
    ------
    InputError
        If the folder is not a run, is not finished, or is damaged.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if is_model_folder(self.folder):
            raise InputError(
                f"{self.folder} has a model without test bags, not a run; use `bagwise evaluate {self.folder} DATA`, "
                f"`bagwise predict {self.folder} DATA --out FILE` or `bagwise explain {self.folder} DATA`, or train a "
                "run with `bagwise train DATA RUN`"
            )
        if (self.folder / CHECKPOINT).exists() and not (self.folder / MANIFEST).exists():
            raise InputError(f"{self.folder} is a run that is not finished; resume it with `bagwise train … --resume`")
        self.manifest = read_verified_manifest(self.folder, KIND, REQUIRED)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        with self._checked_file(PARAMETERS) as path:
            return check_parameters(read_json(path))

    @cached_property
    def environment(self) -> dict[str, Any]:
        with self._checked_file("environment.json") as path:
            return dict(read_json(path))

    @cached_property
    def metrics(self) -> dict[str, Any]:
        with self._checked_file("metrics.json") as path:
            return check_metrics(read_json(path))

    @cached_property
    def history(self) -> list[dict[str, float | None]]:
        if not (self.folder / HISTORY).exists():
            return []
        with self._checked_file(HISTORY) as path:
            return check_history(read_csv(path))

    @cached_property
    def screening(self) -> list[dict[str, Any]]:
        if not (self.folder / SCREENING).exists():
            return []
        with self._checked_file(SCREENING) as path:
            return check_screening(read_csv(path), self.target)

    @cached_property
    def baselines(self) -> dict[str, dict[str, float | None]]:
        if not (self.folder / BASELINES).exists():
            return {}
        with self._checked_file(BASELINES) as path:
            return check_baselines(read_json(path))

    @cached_property
    def training(self) -> list[dict[str, str]]:
        if not (self.folder / TRAINING).exists():  # early versions did not write it
            return []
        with self._checked_file(TRAINING) as path:
            return check_training(read_csv(path))

    @cached_property
    def predictions(self) -> list[dict[str, str]]:
        with self._checked_file("predictions.csv") as path:
            return check_predictions(read_csv(path), self.target)

    @cached_property
    def weights(self) -> np.ndarray:
        with self._checked_file("weights.npy") as path:
            weights = read_npy(path)
            if weights.shape != (self.offsets[-1],) or weights.dtype.kind != "f":
                raise ValueError(
                    f"an array of {weights.dtype} and shape {weights.shape} does not match the test bags, which have "
                    f"{self.offsets[-1]} instances"
                )
            return weights

    @cached_property
    def target(self) -> Any:
        with self._checked_file("model/model.json") as path:
            return restore_target(read_json(path)["target"])

    @cached_property
    def network(self) -> dict[str, Any]:
        with self._checked_file("model/model.json") as path:
            return check_network(read_json(path))

    @property
    def outputs(self) -> np.ndarray:
        return np.array(
            [[float(row[output.name]) for output in self.target.outputs] for row in self.predictions]
        ).reshape(-1, self.target.n_outputs)

    @property
    def targets(self) -> np.ndarray:
        return self.target.encode_names([read_label(row) for row in self.predictions])

    @property
    def offsets(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum([int(row["n_instances"]) for row in self.predictions])]).astype(int)

    @contextlib.contextmanager
    def _checked_file(self, name: str) -> Iterator[Path]:
        """Yield the path of a file; errors in the block are reported as an error of this file."""
        with translate_errors(self.folder / name, "is not a valid file of a run", "restore the run from a copy"):
            yield self.folder / name

    def check_unseen(self, bags: Bags, data: str) -> None:
        """Check that bags were not used for training.

        Parameters
        ----------
        bags : Bags
            The bags to check.
        data : str
            Name of their source, for messages.

        Raises
        ------
        InputError
            If a group (e.g. a patient) of the bags also has training bags. Bags without groups are compared by name,
            and a match gives only a warning.
        """
        if bags.groups is not None:
            check_disjoint_groups((row["group"] for row in self.training if "group" in row), bags.groups, data)
        elif bags.names is not None and (known := {row["bag"] for row in self.training} & {*map(str, bags.names)}):
            warnings.warn(
                f"{len(known)} bags of '{data}' have the same names as bags that the model was trained on: "
                f"{', '.join(sorted(known)[:5])}{' …' * (len(known) > 5)}; if they are the same bags, the "
                "metrics are too optimistic",
                stacklevel=2,
            )

    def parts(self) -> RunParts:
        """Open the training, validation and test bags again, from the original data.

        Returns
        -------
        RunParts
        """
        with self._checked_file(PARAMETERS):
            learn = build_run_estimator(self.parameters).learn_target
            return split_source(**self.parameters["data"], learn=learn)

    def test_bags(self) -> Bags:
        """Open the test bags again, from the original data.

        Returns
        -------
        Bags

        Raises
        ------
        InputError
            If the data have changed since the run was trained.
        """
        bags = self.parts().test
        if fingerprint_bags(bags) != self.manifest.get("test_bags"):
            raise InputError(
                f"the data '{self.parameters['data']['data']}' have changed since {self.folder} was trained; restore "
                "the data, or train a new run"
            )
        return bags


def name_method(run: Run) -> str:
    """Return the name of a run's method.

    Parameters
    ----------
    run : Run
        The run.

    Returns
    -------
    str
        A key of ``METHODS``; for a network without such a name, its level and pooling.
    """
    method, parameters = run.parameters["method"], run.parameters["parameters"]
    if method is not None:
        return str(method)
    level = "instance-level " if canonicalize_name(parameters["level"]) == "instance" else ""
    return level + canonicalize_name(parameters["pooling"])


def load_model(folder: str | Path) -> BagEstimator:
    """Load a fitted model.

    Parameters
    ----------
    folder : str or Path
        A run folder, or a folder written by ``bagwise export`` or ``BagEstimator.save``.

    Returns
    -------
    BagEstimator

    Raises
    ------
    InputError
        If the folder is none of these, or is damaged.
    """
    folder = Path(folder)
    if not is_model_folder(folder):
        folder = Run(folder).folder
    return BagEstimator.load(folder if (folder / DESCRIPTION).is_file() else folder / "model")


def is_model_folder(folder: str | Path) -> bool:
    """Return whether a folder has a model without test bags: one that was saved or exported.

    Parameters
    ----------
    folder : str or Path
        Any folder.

    Returns
    -------
    bool
    """
    folder = Path(folder)
    if (folder / DESCRIPTION).is_file():
        return True
    has_model = (folder / MANIFEST).is_file() and (folder / "model" / DESCRIPTION).is_file()
    return has_model and _read_kind(folder) != KIND


def _read_kind(folder: Path) -> object:
    manifest = read_json(folder / MANIFEST)
    return manifest.get("kind") if isinstance(manifest, dict) else None
