"""Preparation of network training: parameter checks, training and validation bags, class weights."""

import hashlib
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import torch

from bagwise.arguments import check_bool, check_real_number, check_whole_number
from bagwise.bags import Bags, fingerprint_bags, hold_out
from bagwise.errors import InputError
from bagwise.estimators.base import ClassWeight
from bagwise.estimators.calibration import check_calibration
from bagwise.estimators.serialization import to_plain
from bagwise.estimators.thresholds import check_threshold
from bagwise.targets import AUTO, Target
from bagwise.training import TrainingSettings, TrainingTask
from bagwise.training.streaming import resolve_memory

FITTED_PARAMETERS = (  # in addition to the training settings; in the order of the checkpoint file
    "level",
    "connections",
    "attention_width",
    "heads",
    "dropout",
    "standardize",
    "validation",
    "class_weight",
)


class LabelledBags(NamedTuple):
    """Bags, their encoded targets, and their weights in the loss if they have any."""

    bags: Bags
    targets: np.ndarray
    weights: np.ndarray | None = None

    def select(self, rows: np.ndarray) -> "LabelledBags":
        """Return some of the bags."""
        weights = None if self.weights is None else self.weights[rows]
        return LabelledBags(self.bags[rows], self.targets[rows], weights)


class TrainingPlan(NamedTuple):
    """The settings, the training bags, the validation bags and the weights of all given bags of one fit."""

    settings: TrainingSettings
    training: TrainingTask
    validation: TrainingTask | None
    sample_weight: np.ndarray | None = None


def check_network_parameters(estimator: Any, target: Target, has_validation_bags: bool) -> None:
    """Check the parameters that are checked neither by the training settings nor by the parts of the model."""
    check_whole_number("attention_width", estimator.attention_width, minimum=1)
    check_whole_number("heads", estimator.heads, minimum=1)
    resolve_memory(estimator.memory, torch.device("cpu"))
    for name in ("standardize", "calibration", "threshold"):
        check_bool(name, getattr(estimator, name))
    if estimator.calibration:
        check_calibration(target)
    if estimator.threshold:
        check_threshold(target)
    if estimator.averaging and (has_validation_bags or estimator.validation is not None):
        raise InputError(
            "averaging and validation cannot be combined: the model is either the average of the last epochs or the "
            "best epoch on the validation bags; set averaging=0 or validation=None (on the command line, omit "
            "--averaging or --validation)"
        )
    if estimator.validation is not None:
        check_real_number("validation", estimator.validation, above=0, below=1)
    elif estimator.patience is not None and not has_validation_bags:
        raise InputError(
            "patience needs validation bags; set validation, e.g. validation=0.2 (on the command line: "
            "--validation 0.2)"
        )
    elif (estimator.calibration or estimator.threshold) and not has_validation_bags:
        name = "calibration" if estimator.calibration else "threshold"
        raise InputError(
            f"the {name} is learned from validation bags; set validation, e.g. validation=0.2 (on the command line: "
            "--validation 0.2)"
        )


def make_training_settings(estimator: Any) -> TrainingSettings:
    """Return the training settings given by the parameters of an estimator."""
    names = TrainingSettings.__dataclass_fields__.keys() - {"seed"}
    return TrainingSettings(seed=estimator.seed_, **{name: getattr(estimator, name) for name in names})


def split_validation(known: LabelledBags, target: Target, share: float, seed: int) -> tuple[LabelledBags, LabelledBags]:
    """Hold out a share of the bags for validation, stratified by target; bags of a group stay together."""
    training, validation = hold_out(target.make_strata(known.targets), known.bags.groups, share, seed)
    return known.select(training), known.select(validation)


def make_tasks(
    training: LabelledBags, validation: LabelledBags | None, target: Target, class_weight: ClassWeight
) -> tuple[TrainingTask, TrainingTask | None]:
    """Return the training and the validation task; both use class weights computed from the training bags."""

    def make_task(known: LabelledBags) -> TrainingTask:
        importance = target.weigh_bags(known.targets, class_weight, training.targets)
        if known.weights is not None:
            importance = (importance * known.weights).astype(importance.dtype)
            if not importance.any():
                raise InputError(
                    "all training bags or all validation bags have a sample_weight of 0; pass validation bags with "
                    "fit(..., validation=(bags, labels)), or set validation=None"
                )
        return TrainingTask(known.bags, known.targets, importance)

    return make_task(training), None if validation is None else make_task(validation)


def describe_fit(estimator: Any, plan: TrainingPlan) -> dict[str, Any]:
    """Return everything that must be the same in a checkpoint and in the fit that resumes from it."""
    tasks = {"training bags": plan.training, "validation bags": plan.validation}
    # without a context there is no entry, so that checkpoints written before contexts existed can be resumed
    context = {} if estimator.context is None else {"context": to_plain(estimator.context)}
    # likewise for the choice of a target
    chosen = {"target": (estimator.target, AUTO), "positive": (estimator.positive, None)}
    target = {name: to_plain(value) for name, (value, default) in chosen.items() if value != default}
    weights = plan.sample_weight
    weighted = {} if weights is None else {"sample_weight": hashlib.sha256(weights.tobytes()).hexdigest()}
    return {
        **asdict(plan.settings),
        **{name: to_plain(getattr(estimator, name)) for name in FITTED_PARAMETERS},
        "engine": estimator.engine_,
        "encoder": to_plain(estimator.encoder),
        **context,
        **target,
        **weighted,
        "pooling": to_plain(estimator.pooling),
        "augmentation": to_plain(estimator.augmentation),
        **{name: None if task is None else fingerprint_bags(task.bags, task.targets) for name, task in tasks.items()},
    }
