"""Making a run: parameters first, then training with checkpoints, then everything that is judged and shown."""

import warnings
from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from typing import Any

from bagwise.bags import fingerprint
from bagwise.claims import clear_remains, is_unused, sole_writer
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.estimators.taking import known_class_numbers
from bagwise.evaluation import Evaluation, evaluate
from bagwise.evaluation.grouping import by_group
from bagwise.files import MANIFEST, atomic, read_json, write_json
from bagwise.manifests import write_manifest
from bagwise.names import canonical
from bagwise.runs.assisting import Leader, leading
from bagwise.runs.environment import describe_environment
from bagwise.runs.parts import Parts, known_labels, split_source
from bagwise.runs.rows import group_rows, prediction_rows, training_rows
from bagwise.runs.run import CHECKPOINT, KIND, PARAMETERS, REPORT, TRAINING, Run, write_table
from bagwise.sources import located
from bagwise.training import Progress, TrainingStopped
from bagwise.training.ranks import current
from bagwise.writing import write_array


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
    with leading() as leader:  # around all of it: whatever is refused or finished, the other processes hear of it
        return _execute(Path(folder), _located(description), leader, resume, progress, should_stop)


def _execute(
    folder: Path,
    description: dict[str, Any],
    leader: Leader,
    resume: bool,
    progress: Progress | None,
    should_stop: Callable[[], bool],
) -> Run:
    if not (folder / PARAMETERS).exists() and not is_unused(folder):
        raise InputError(f"{folder} exists and is not a run; choose a new folder")
    if (folder / MANIFEST).exists() and not (folder / CHECKPOINT).exists():  # finished: it may be read-only
        _agreed(folder, description, resume)
        return Run(folder)
    with sole_writer(folder):
        description = _agreed(folder, description, resume)
        if not (folder / MANIFEST).exists():  # else another process ended it just before the claim
            _make(folder, description, leader, progress, should_stop)
        (folder / CHECKPOINT).unlink(missing_ok=True)  # last: until the run is sealed, it is what a resume goes on from
    return Run(folder)


def _make(
    folder: Path,
    description: dict[str, Any],
    leader: Leader,
    progress: Progress | None,
    should_stop: Callable[[], bool],
) -> None:
    parts = split_source(**description["data"])
    estimator = BagClassifier(**description["parameters"])
    validation = None if parts.validation is None else (parts.validation, parts.validation.labels)
    estimator.check(parts.training, parts.training.labels, validation)  # before anything is written
    clear_remains(folder)
    write_json(folder / PARAMETERS, description)
    _record_environment(folder / "environment.json", str(estimator.device))
    leader.begin(description, folder / CHECKPOINT)
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


def _agreed(folder: Path, description: dict[str, Any], resume: bool) -> dict[str, Any]:
    """What the run is made from: what was written when it began, or the description, if it begins now."""
    stored = folder / PARAMETERS
    if not stored.exists():
        return _completed(description)
    begun = _read_description(stored)
    _check_same(begun, description, folder, resume)
    return begun


def _write_results(folder: Path, estimator: BagClassifier, parts: Parts, judged: Evaluation) -> None:
    test = parts.test
    targets = known_class_numbers(test.labels, estimator.classes_, len(test))
    labels, threshold = estimator.classes_[targets], estimator.decision_threshold
    rows = prediction_rows(estimator.classes_, test, judged.probabilities, labels, threshold)
    estimator.save(folder / "model")
    write_table(folder / "history.csv", [record.as_dict() for record in estimator.history_])
    write_table(folder / TRAINING, _learned_from(parts))
    write_table(folder / "predictions.csv", rows)
    if test.groups is not None:
        grouped = by_group(targets, judged.probabilities, test.groups)
        write_table(folder / "groups.csv", group_rows(estimator.classes_, grouped, threshold))
    _write_weights(folder / "weights.npy", judged)
    write_json(folder / "metrics.json", judged.metrics)
    facts = {"test_bags": fingerprint(test), "set_aside": list(parts.set_aside)}
    write_manifest(folder, KIND, passing={CHECKPOINT, REPORT}, **facts)


def _learned_from(parts: Parts) -> Iterator[dict[str, Any]]:
    yield from training_rows(parts.training, "training")
    if parts.validation is not None:
        yield from training_rows(parts.validation, "validation")


def _write_weights(path: Path, judged: Evaluation) -> None:
    with atomic(path) as draft:
        write_array(draft, judged.weights)


def _record_environment(path: Path, device: str) -> None:
    """Where the run is made; a run that goes on elsewhere keeps both, and says so."""
    now = describe_environment(device)
    before = read_json(path) if path.exists() else now
    earlier = before.pop("earlier", [])
    if other := [name for name in now if before.get(name) != now[name]]:
        warnings.warn(
            f"{path.parent} was begun with another {', '.join(other)} (see {path}); it goes on, "
            "but its last bits may differ from those of a run that was not cut",
            stacklevel=2,
        )
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
    if isinstance(begun, dict) and isinstance(begun.get("data"), dict):
        begun["data"].setdefault("ungrouped", False)  # which the first runs did not know
    wanted = {"data": set(signature(split_source).parameters), "parameters": set(BagClassifier().get_params())}
    for part, names in wanted.items():
        if not isinstance(begun, dict) or not isinstance(begun.get(part), dict) or set(begun[part]) != names:
            raise InputError(f"{path} is damaged: its '{part}' are not those of a run; choose a new folder")
    return begun


def _completed(description: dict[str, Any]) -> dict[str, Any]:
    """Every parameter by name, also those left to their defaults, which another version may change."""
    shared = {"engine": "torch"} if current().size > 1 else {}  # by name: one process may have to go on with it
    parameters = BagClassifier(**{"random_state": 0, **shared, **description["parameters"]}).get_params()
    data = {"split_seed": parameters["random_state"], **description["data"]}
    return {"data": {**data, "ungrouped": bool(data.get("ungrouped"))}, "parameters": parameters}


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
