"""Making a run: parameters first, then training with checkpoints, then everything that is judged and shown."""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.bags import fingerprint
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.estimators.taking import known_class_numbers
from bagwise.evaluation import Evaluation, evaluate
from bagwise.evaluation.grouping import by_group
from bagwise.files import MANIFEST, atomic, is_draft, read_json, write_json, write_manifest
from bagwise.names import canonical
from bagwise.runs.environment import describe_environment
from bagwise.runs.parts import Parts, known_labels, split_source
from bagwise.runs.rows import group_rows, prediction_rows
from bagwise.runs.run import CHECKPOINT, KIND, REPORT, Run, write_table
from bagwise.sources import located
from bagwise.training import Progress, TrainingStopped


def execute(
    folder: str | Path,
    description: dict[str, Any],
    *,
    resume: bool = False,
    progress: Progress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Train, evaluate and write a run.

    description : {"data": what ``split_source`` takes, "parameters": what BagClassifier takes}
    resume : go on with a run that was cut; a finished one is returned as it is
    """
    folder = Path(folder)
    description = _located(description)
    stored = folder / "parameters.json"
    if stored.exists():
        begun = _read_description(stored)
        _check_same(begun, description, folder, resume)
        description = begun
        if (folder / MANIFEST).exists():
            (folder / CHECKPOINT).unlink(missing_ok=True)
            return Run(folder)
    elif folder.exists() and (not folder.is_dir() or not all(map(is_draft, folder.iterdir()))):
        raise InputError(f"{folder} exists and is not a run; choose a new folder")
    else:
        description = _completed(description)
    parts = split_source(**description["data"])
    estimator = BagClassifier(**description["parameters"])
    validation = None if parts.validation is None else (parts.validation, parts.validation.labels)
    estimator.check(parts.training, parts.training.labels, validation)  # before anything is written
    _clear_drafts(folder)
    write_json(stored, description)
    _record_environment(folder / "environment.json")
    estimator.fit(
        parts.training,
        parts.training.labels,
        validation=validation,
        checkpoint=folder / CHECKPOINT,
        progress=progress,
        should_stop=should_stop,
    )
    judged = evaluate(estimator, parts.test, known_labels(parts.test, "test"))
    if should_stop():  # asked during the evaluation: the checkpoint holds the whole training
        raise TrainingStopped
    _write_results(folder, estimator, parts, judged)
    return Run(folder)


def _write_results(folder: Path, estimator: BagClassifier, parts: Parts, judged: Evaluation) -> None:
    test = parts.test
    targets = known_class_numbers(test.labels, estimator.classes_, len(test))
    labels, threshold = estimator.classes_[targets], estimator.decision_threshold
    rows = prediction_rows(estimator.classes_, test, judged.probabilities, labels, threshold)
    estimator.save(folder / "model")
    write_table(folder / "history.csv", [record.as_dict() for record in estimator.history_])
    write_table(folder / "predictions.csv", rows)
    if test.groups is not None:
        grouped = by_group(targets, judged.probabilities, test.groups)
        write_table(folder / "groups.csv", group_rows(estimator.classes_, grouped, threshold))
    _write_weights(folder / "weights.npy", judged)
    write_json(folder / "metrics.json", judged.metrics)
    facts = {"test_bags": fingerprint(test), "set_aside": list(parts.set_aside)}
    write_manifest(folder, KIND, passing={CHECKPOINT, REPORT}, **facts)
    (folder / CHECKPOINT).unlink()  # last: until the run is sealed, it is what a resume goes on from


def _write_weights(path: Path, judged: Evaluation) -> None:
    with atomic(path) as draft, draft.open("wb") as stream:
        np.save(stream, judged.weights, allow_pickle=False)


def _clear_drafts(folder: Path) -> None:
    """Remove what a killed process left half-written."""
    for path in folder.glob("*") if folder.exists() else ():
        if is_draft(path) and path.is_file():
            path.unlink()


def _record_environment(path: Path) -> None:
    """Where the run is made; a run that goes on elsewhere keeps both."""
    now = describe_environment()
    before = read_json(path) if path.exists() else now
    earlier = before.pop("earlier", [])
    write_json(path, now if before == now and not earlier else {**now, "earlier": [*earlier, before]})


def _located(description: dict[str, Any]) -> dict[str, Any]:
    """Paths made absolute, so that the run finds its data from any folder."""
    data, options = located(description["data"]["data"], description["data"]["options"])
    test, splits = description["data"]["test"], description["data"].get("splits")
    test = located(test, {})[0] if isinstance(test, str) else test
    splits = None if splits is None else str(Path(splits).resolve())
    found = {"data": data, "options": options, "test": test, "splits": splits}
    return {**description, "data": {**description["data"], **found}}


def _read_description(path: Path) -> dict[str, Any]:
    """The description of a run that was begun, as complete as it was written."""
    begun = read_json(path)
    wanted = {"data": set(signature(split_source).parameters), "parameters": set(BagClassifier().get_params())}
    for part, names in wanted.items():
        if not isinstance(begun, dict) or not isinstance(begun.get(part), dict) or set(begun[part]) != names:
            raise InputError(f"{path} is damaged: its '{part}' are not those of a run; choose a new folder")
    return begun


def _completed(description: dict[str, Any]) -> dict[str, Any]:
    """Every parameter by name, also those left to their defaults, which another version may change."""
    parameters = BagClassifier(**{"random_state": 0, **description["parameters"]}).get_params()
    return {"data": {"split_seed": parameters["random_state"], **description["data"]}, "parameters": parameters}


def _check_same(stored: dict[str, Any], wanted: dict[str, Any], folder: Path, resume: bool) -> None:
    """A run goes on as it began; what is not said again stays as it was."""
    if not resume:
        raise InputError(f"{folder} holds a run already; add --resume to go on with it, or choose a new folder")
    for part in ("data", "parameters"):
        for name, value in wanted[part].items():
            before = stored[part].get(name)
            if value not in (None, {}) and _plain_word(before) != _plain_word(value):
                raise InputError(
                    f"{folder} was begun with {name} = {before!r}, and now it is {value!r}; "
                    "repeat the first command with --resume, or choose a new folder"
                )


def _plain_word(value: Any) -> Any:
    """Names that mean the same are the same, however they are typed."""
    return canonical(value) if isinstance(value, str) else value
