"""Execution of a run: write the parameters, train with checkpoints, then evaluate and write the results.

With several processes (torchrun), only the first one writes files and evaluates. It sends the task to the others, which
only take part in the training.
"""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.arguments import canonicalize_name
from bagwise.bags import Bags, fingerprint_bags
from bagwise.data import get_labels, resolve_data_path
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier, encode_known_labels
from bagwise.evaluation import Evaluation, evaluate, group_predictions
from bagwise.io import (
    MANIFEST,
    is_unused_folder,
    lock_folder,
    read_json,
    remove_temporary_files,
    write_array,
    write_atomically,
    write_csv,
    write_json,
    write_manifest,
)
from bagwise.parallel import Ranks, get_ranks
from bagwise.runs.parts import RunParts, split_source
from bagwise.runs.predictions import make_group_rows, make_prediction_rows, make_training_rows
from bagwise.runs.run import CHECKPOINT, KIND, PARAMETERS, REPORT, TRAINING, Run
from bagwise.training import TrainingProgress, TrainingStopped, describe_environment

NO_TASK = ""  # sent to processes that have nothing to do


def execute_run(
    folder: str | Path,
    description: dict[str, Any],
    *,
    resume: bool = False,
    progress: TrainingProgress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Train a model, evaluate it, and write a run folder.

    Parameters
    ----------
    folder : str or Path
        A new folder or, with ``resume``, the folder of a run.
    description : dict
        ``{"data": …, "parameters": …}``: arguments of ``split_source`` and parameters of ``BagClassifier``.
    resume : bool, default=False
        Whether to resume an interrupted run; a finished run is returned unchanged. Parameters that are not given
        keep the values of the run.
    progress : TrainingProgress or None, default=None
        Receives the progress of the training; None shows nothing.
    should_stop : callable, default=lambda: False
        Called after each step. If it returns True, a checkpoint is saved and ``TrainingStopped`` is raised.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        If the folder has other content, or the description is invalid or differs from that of the run to resume.
    TrainingStopped
        If ``should_stop`` returned True.
    """
    with lead_run() as leader:  # released even if this process fails or has nothing to do
        return _execute(Path(folder), _resolve_paths(description), leader, resume, progress, should_stop)


def _execute(
    folder: Path,
    description: dict[str, Any],
    leader: "Leader",
    resume: bool,
    progress: TrainingProgress | None,
    should_stop: Callable[[], bool],
) -> Run:
    if not (folder / PARAMETERS).exists() and not is_unused_folder(folder):
        raise InputError(f"{folder} exists and is not a run; choose a new folder")
    if (folder / MANIFEST).exists() and not (folder / CHECKPOINT).exists():  # finished: it may be read-only
        _load_or_complete(folder, description, resume)
        return Run(folder)
    with lock_folder(folder):
        description = _load_or_complete(folder, description, resume)
        if not (folder / MANIFEST).exists():  # else another process finished it just before the folder was locked
            _train_and_write(folder, description, leader, progress, should_stop)
        (folder / CHECKPOINT).unlink(missing_ok=True)  # last, so that an incomplete run can always be resumed
    return Run(folder)


def _train_and_write(
    folder: Path,
    description: dict[str, Any],
    leader: "Leader",
    progress: TrainingProgress | None,
    should_stop: Callable[[], bool],
) -> None:
    parts = split_source(**description["data"])
    estimator = BagClassifier(**description["parameters"])
    validation = _get_validation(parts)
    estimator.check(parts.training, parts.training.labels, validation)  # before anything is written
    remove_temporary_files(folder)
    write_json(folder / PARAMETERS, description)
    _write_environment(folder / "environment.json", str(estimator.device))
    leader.send_task(description, folder / CHECKPOINT)
    estimator.fit(
        parts.training,
        parts.training.labels,
        validation=validation,
        checkpoint=folder / CHECKPOINT,
        progress=progress,
        should_stop=should_stop,
    )
    evaluation = evaluate(estimator, parts.test, get_labels(parts.test, "test"))
    if should_stop():  # requested during the evaluation; the checkpoint contains the finished training
        raise TrainingStopped
    _write_results(folder, estimator, parts, evaluation)


def _get_validation(parts: RunParts) -> tuple[Bags, np.ndarray] | None:
    """Return the validation bags and their labels, or None."""
    return None if parts.validation is None else (parts.validation, get_labels(parts.validation, "validation"))


def _write_results(folder: Path, estimator: BagClassifier, parts: RunParts, evaluation: Evaluation) -> None:
    test = parts.test
    targets = encode_known_labels(get_labels(test, "test"), estimator.classes_, len(test))
    labels, threshold = estimator.classes_[targets], estimator.decision_threshold
    rows = make_prediction_rows(estimator.classes_, test, evaluation.probabilities, labels, threshold)
    estimator.save(folder / "model")
    write_csv(folder / "history.csv", [record.as_dict() for record in estimator.history_])
    write_csv(folder / TRAINING, _list_training_bags(parts))
    write_csv(folder / "predictions.csv", rows)
    if test.groups is not None:
        grouped = group_predictions(targets, evaluation.probabilities, test.groups)
        write_csv(folder / "groups.csv", make_group_rows(estimator.classes_, grouped, threshold))
    with write_atomically(folder / "weights.npy") as temporary:
        write_array(temporary, evaluation.weights)
    write_json(folder / "metrics.json", evaluation.metrics)
    write_manifest(
        folder,
        KIND,
        passing={CHECKPOINT, REPORT},
        test_bags=fingerprint_bags(test),
        set_aside=list(parts.set_aside),
    )


def _list_training_bags(parts: RunParts) -> Iterator[dict[str, Any]]:
    yield from make_training_rows(parts.training, "training")
    if parts.validation is not None:
        yield from make_training_rows(parts.validation, "validation")


def _write_environment(path: Path, device: str) -> None:
    """Write versions and machine; if a run is resumed in another environment, record both and give a warning."""
    now = describe_environment(device)
    before = read_json(path) if path.exists() else now
    earlier = before.pop("earlier", [])
    if differing := [name for name in now if before.get(name) != now[name]]:
        warnings.warn(
            f"{path.parent} was started in an environment with different {', '.join(differing)} (see {path}); it is "
            "resumed, but its last digits may differ from those of an uninterrupted run",
            stacklevel=2,
        )
    write_json(path, now if before == now and not earlier else {**now, "earlier": [*earlier, before]})


def _resolve_paths(description: dict[str, Any]) -> dict[str, Any]:
    """Make paths absolute, so that the run finds its data from any working directory."""
    data, options = resolve_data_path(description["data"]["data"], description["data"]["options"])
    test, splits = description["data"]["test"], description["data"].get("splits")
    resolved = {
        "data": data,
        "options": options,
        "test": resolve_data_path(test, {})[0] if isinstance(test, str) else test,
        "splits": None if splits is None else str(Path(splits).resolve()),
    }
    return {**description, "data": {**description["data"], **resolved}}


def _load_or_complete(folder: Path, description: dict[str, Any], resume: bool) -> dict[str, Any]:
    """Return the stored description of an existing run, or the completed description of a new one."""
    path = folder / PARAMETERS
    if not path.exists():
        return _complete_description(description)
    stored = _read_description(path)
    _check_same_description(stored, description, folder, resume)
    return stored


def _complete_description(description: dict[str, Any]) -> dict[str, Any]:
    """Add every default, because another version may have other defaults."""
    # With several processes the engine is stored explicitly, because a single process may resume the run.
    engine = {"engine": "torch"} if get_ranks().size > 1 else {}
    parameters = BagClassifier(**{"random_state": 0, **engine, **description["parameters"]}).get_params()
    data = {"split_seed": parameters["random_state"], **description["data"]}
    return {"data": {**data, "ungrouped": bool(data.get("ungrouped"))}, "parameters": parameters}


def _read_description(path: Path) -> dict[str, Any]:
    """Read the description of an existing run, and check that it is complete."""
    stored = read_json(path)
    if isinstance(stored, dict) and isinstance(stored.get("data"), dict):
        stored["data"].setdefault("ungrouped", False)  # early versions did not write it
    required = {"data": set(signature(split_source).parameters), "parameters": set(BagClassifier().get_params())}
    for part, names in required.items():
        if not isinstance(stored, dict) or not isinstance(stored.get(part), dict) or set(stored[part]) != names:
            raise InputError(f"{path} is damaged: '{part}' does not have the entries of a run; choose a new folder")
    return stored


def _check_same_description(stored: dict[str, Any], wanted: dict[str, Any], folder: Path, resume: bool) -> None:
    """Reject parameters that differ from those of the run; parameters that are not given keep their values."""
    if not resume:
        raise InputError(f"{folder} already has a run; add --resume to resume it, or choose a new folder")
    for part in ("data", "parameters"):
        for name, value in wanted[part].items():
            before = stored[part].get(name)
            if value not in (None, {}) and _normalize(before) != _normalize(value):
                raise InputError(
                    f"{folder} was started with {name} = {before!r}, but now it is {value!r}; repeat the first command "
                    "with --resume, or choose a new folder"
                )


def _normalize(value: Any) -> Any:
    """Return names in their canonical spelling: spaces, hyphens and underscores are equivalent."""
    return canonicalize_name(value) if isinstance(value, str) else value


class Leader:
    """The first process, which sends one task to the others."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._sent = False

    def send_task(self, description: dict[str, Any], checkpoint: Path) -> None:
        """Start the training in the other processes."""
        self._send(json.dumps({"description": description, "checkpoint": str(checkpoint.resolve())}))

    def dismiss(self) -> None:
        """Release the other processes if no task was sent, because there is nothing to do or the input was rejected."""
        if not self._sent:
            self._send(NO_TASK)

    def _send(self, text: str) -> None:
        self._sent = True
        self._ranks.broadcast(text)


@contextmanager
def lead_run() -> Iterator[Leader]:
    """Act as the first process; on exit, even after an error, the other processes are released."""
    leader = Leader(get_ranks())
    try:
        yield leader
    finally:
        leader.dismiss()


def assist_run(should_stop: Callable[[], bool] = lambda: False) -> None:
    """Take part in the training of the first process; this process writes nothing.

    Parameters
    ----------
    should_stop : callable, default=lambda: False
        As for ``execute_run``.
    """
    received = get_ranks().broadcast()
    if received == NO_TASK:
        return
    task = json.loads(received)
    parts = split_source(**task["description"]["data"])
    validation = _get_validation(parts)
    BagClassifier(**task["description"]["parameters"]).fit(
        parts.training,
        parts.training.labels,
        validation=validation,
        checkpoint=task["checkpoint"],
        should_stop=should_stop,
    )
