"""Execution of a run: write the parameters, train with checkpoints, then evaluate and write the results.

With several processes (torchrun), only the first one writes files and evaluates. It sends the task to the others, which
only take part in the training.
"""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.bags import Bags, fingerprint_bags
from bagwise.data import get_labels
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator
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
from bagwise.runs.baselines import evaluate_baselines
from bagwise.runs.parts import RunParts, split_source
from bagwise.runs.predictions import make_group_rows, make_prediction_rows, make_training_rows
from bagwise.runs.run import BASELINES, CHECKPOINT, HISTORY, KIND, PARAMETERS, REPORT, SCREENING, TRAINING, Run
from bagwise.runs.run_description import RunDescription, build_run_estimator, load_or_complete, resolve_paths
from bagwise.training import TrainingProgress, TrainingStopped, describe_environment

NO_TASK = ""  # sent to processes that have nothing to do


def execute_run(
    folder: str | Path,
    description: RunDescription,
    *,
    resume: bool = False,
    baselines: bool = True,
    progress: TrainingProgress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Train a model, evaluate it, and write a run folder.

    Networks are trained with checkpoints. The fit of any other method starts again if it was interrupted.

    Parameters
    ----------
    folder : str or Path
        A new folder or, with ``resume``, the folder of a run.
    description : dict
        ``{"data": …, "method": …, "parameters": …}``: arguments of ``split_source``, a key of ``METHODS`` and
        parameters of the method. Without a method, parameters of ``BagClassifier``.
    resume : bool, default=False
        Whether to resume an interrupted run; a finished run is returned unchanged. Parameters that are not given
        keep the values of the run.
    baselines : bool, default=True
        Whether to evaluate the baselines of the report on the same split.
    progress : TrainingProgress or None, default=None
        Receives the progress of the training; None shows nothing.
    should_stop : callable, default=lambda: False
        Called after each step of a network. If it returns True, a checkpoint is saved and ``TrainingStopped`` is
        raised.

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
        fit = _Fit(leader=leader, baselines=baselines, progress=progress, should_stop=should_stop)
        return _execute(Path(folder), resolve_paths(description), resume, fit)


class _Fit(NamedTuple):
    """How a run is trained, apart from its description."""

    leader: "Leader"
    baselines: bool
    progress: TrainingProgress | None
    should_stop: Callable[[], bool]


def _execute(folder: Path, description: RunDescription, resume: bool, fit: _Fit) -> Run:
    if not (folder / PARAMETERS).exists() and not is_unused_folder(folder):
        raise InputError(f"{folder} exists and is not a run; choose a new folder")
    if (folder / MANIFEST).exists() and not (folder / CHECKPOINT).exists():  # finished: it may be read-only
        load_or_complete(folder / PARAMETERS, description, resume)
        return Run(folder)
    with lock_folder(folder):
        description = load_or_complete(folder / PARAMETERS, description, resume)
        if not (folder / MANIFEST).exists():  # else another process finished it just before the folder was locked
            _train_and_write(folder, description, fit)
        (folder / CHECKPOINT).unlink(missing_ok=True)  # last, so that an incomplete run can always be resumed
    return Run(folder)


def _train_and_write(folder: Path, description: RunDescription, fit: _Fit) -> None:
    estimator = build_run_estimator(description)
    parts = split_source(**description["data"], learn=estimator.learn_target)
    if not estimator.supports_checkpoint:
        parts = _join_validation(parts)
        if get_ranks().size > 1:
            raise InputError(f"{description['method']} is trained by one process; start it without torchrun")
    estimator.check(parts.training, parts.training.labels, _get_validation(parts))  # before anything is written
    remove_temporary_files(folder)
    write_json(folder / PARAMETERS, description)
    _write_environment(folder / "environment.json", str(getattr(estimator, "device", "cpu")))
    if estimator.supports_checkpoint:
        fit.leader.send_task(description, folder / CHECKPOINT)
        _fit_network(estimator, parts, folder / CHECKPOINT, fit.progress, fit.should_stop)
    else:
        estimator.fit(parts.training, parts.training.labels)
    evaluation = evaluate(estimator, parts.test, get_labels(parts.test, "test"))
    baselines = evaluate_baselines(parts, description["method"], estimator.target_) if fit.baselines else {}
    if fit.should_stop():  # requested during the evaluation; the checkpoint contains the finished training
        raise TrainingStopped
    _write_results(folder, estimator, parts, evaluation, baselines)


def _fit_network(
    estimator: BagEstimator,
    parts: RunParts,
    checkpoint: Path,
    progress: TrainingProgress | None,
    should_stop: Callable[[], bool],
) -> None:
    options: dict[str, Any] = {
        "validation": _get_validation(parts),
        "checkpoint": checkpoint,
        "progress": progress,
        "should_stop": should_stop,
    }
    estimator.fit(parts.training, parts.training.labels, **options)


def _join_validation(parts: RunParts) -> RunParts:
    """Add the validation bags of a split file to the training bags, for methods that do not use them."""
    if parts.validation is None:
        return parts
    return parts._replace(training=Bags.concatenate([parts.training, parts.validation]), validation=None)


def _get_validation(parts: RunParts) -> tuple[Bags, np.ndarray] | None:
    """Return the validation bags and their labels, or None."""
    return None if parts.validation is None else (parts.validation, get_labels(parts.validation, "validation"))


def _write_results(
    folder: Path, estimator: BagEstimator, parts: RunParts, evaluation: Evaluation, baselines: dict[str, Any]
) -> None:
    test = parts.test
    target, threshold = estimator.target_, estimator.decision_threshold
    targets = target.encode(get_labels(test, "test"), len(test))
    rows = make_prediction_rows(target, test, evaluation.outputs, target.decode(targets), threshold)
    estimator.save(folder / "model")
    if hasattr(estimator, "history_"):
        write_csv(folder / HISTORY, [record.as_dict() for record in estimator.history_])
    if hasattr(estimator, "screening_"):
        write_csv(folder / SCREENING, [screened.as_dict() for screened in estimator.screening_])
    write_csv(folder / TRAINING, _list_training_bags(parts))
    write_csv(folder / "predictions.csv", rows)
    if test.groups is not None:
        grouped = group_predictions(targets, evaluation.outputs, test.groups)
        write_csv(folder / "groups.csv", make_group_rows(target, grouped, threshold, test.label_names))
    with write_atomically(folder / "weights.npy") as temporary:
        write_array(temporary, evaluation.weights)
    write_json(folder / "metrics.json", evaluation.metrics)
    if baselines:
        write_json(folder / BASELINES, baselines)
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


class Leader:
    """The first process, which sends one task to the others."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._sent = False

    def send_task(self, description: RunDescription, checkpoint: Path) -> None:
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
    estimator = build_run_estimator(task["description"])
    parts = split_source(**task["description"]["data"], learn=estimator.learn_target)
    _fit_network(estimator, parts, Path(task["checkpoint"]), None, should_stop)
