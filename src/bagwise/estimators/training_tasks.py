"""Preparation of network training: parameter checks, the bags that each network is trained and validated on.

Bags are held out in one of two ways. A share of them chooses the best epoch of one network; or folds give one network
per fold, trained without the bags of the fold to the last epoch, and the scores of the networks are averaged. In both,
the scores of the held-out bags calibrate the probabilities. Folds use few bags better: a share of them is too small to
choose an epoch, and the average varies less than one network.
"""

import hashlib
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import torch

from bagwise.arguments import check_bool, check_real_number, check_whole_number, describe_value
from bagwise.bags import Bags, fingerprint_bags, hold_out, make_inner_folds
from bagwise.errors import InputError
from bagwise.estimators.base import ClassWeight
from bagwise.estimators.calibration import check_calibration
from bagwise.estimators.serialization import to_plain
from bagwise.estimators.thresholds import check_threshold
from bagwise.nn import Purpose, random_integer
from bagwise.targets import AUTO, Target
from bagwise.training import TrainingSettings, TrainingTask
from bagwise.training.streaming import resolve_memory

FITTED_PARAMETERS = (  # in addition to the training settings; in the order of the checkpoint file
    "level",
    "connections",
    "attention_width",
    "heads",
    "dropout",
    "scaling",
    "validation",
    "class_weight",
)
HELD_OUT_SHARE = 0.2
MIN_BAGS_FOR_SHARE, MIN_BAGS_OF_CLASS_FOR_SHARE = 500, 100  # with fewer bags or groups, folds are used
FOLDS = 5
EPOCHS, PATIENCE = 100, 20
MANY_BAGS, EPOCHS_OF_MANY_BAGS = 200, 40  # five networks of so many bags take less than twice as long as one


class LabelledBags(NamedTuple):
    """Bags, their encoded targets, their weights in the loss, and their indices if they were selected."""

    bags: Bags
    targets: np.ndarray
    weights: np.ndarray | None = None
    rows: np.ndarray | None = None

    def select(self, rows: np.ndarray) -> "LabelledBags":
        """Return some of the bags."""
        weights = None if self.weights is None else self.weights[rows]
        return LabelledBags(self.bags[rows], self.targets[rows], weights, rows)

    @property
    def weighted_rows(self) -> np.ndarray:
        """Rows of the bags that count in the loss: those whose weight is positive."""
        return np.arange(len(self.bags)) if self.weights is None else np.flatnonzero(self.weights)


class TrainingPart(NamedTuple):
    """The training bags, the held-out bags and the seed of one network.

    Attributes
    ----------
    training : TrainingTask
        Training bags.
    held_out : TrainingTask or None
        Held-out bags.
    seed : int
        Seed of the network.
    held_out_rows : ndarray of int or None, default=None
        Indices of the held-out bags among the bags of the fit; None if they are others.
    """

    training: TrainingTask
    held_out: TrainingTask | None
    seed: int
    held_out_rows: np.ndarray | None = None


class TrainingPlan(NamedTuple):
    """Everything that determines a fit: one network, or one per fold.

    Attributes
    ----------
    settings : TrainingSettings
        Settings of the training of every network.
    parts : list of TrainingPart
        Bags and seed of each network.
    chooses_epoch : bool
        Whether the held-out bags choose the epoch; with folds they do not.
    sample_weight : ndarray or None, default=None
        Weights of all given bags.
    """

    settings: TrainingSettings
    parts: list[TrainingPart]
    chooses_epoch: bool
    sample_weight: np.ndarray | None = None

    @property
    def held_out_targets(self) -> np.ndarray:
        """Targets of all held-out bags, in the order of the parts."""
        return np.concatenate([part.held_out.targets for part in self.parts if part.held_out is not None])

    @property
    def held_out_weights(self) -> np.ndarray:
        """Weights of all held-out bags in the loss, in the order of the parts."""
        return np.concatenate([part.held_out.importance for part in self.parts if part.held_out is not None])

    @property
    def held_out_rows(self) -> np.ndarray | None:
        """Indices of all held-out bags among the bags of the fit, in the order of the parts; None if there are none."""
        rows = [part.held_out_rows for part in self.parts if part.held_out_rows is not None]
        return np.concatenate(rows) if rows else None

    @property
    def known_targets(self) -> tuple[np.ndarray, np.ndarray]:
        """Targets and weights of all bags of the fit."""
        tasks = [task for task in (self.parts[0].training, self.parts[0].held_out) if task is not None]
        return np.concatenate([task.targets for task in tasks]), np.concatenate([task.importance for task in tasks])


def plan_training(estimator: Any, known: LabelledBags, given: LabelledBags | None) -> TrainingPlan:
    """Plan the training of the networks of an estimator.

    Parameters
    ----------
    estimator : BagNetwork
        Estimator with learned target and seed.
    known : LabelledBags
        Training bags.
    given : LabelledBags or None
        Validation bags; None holds out some of the training bags, as ``validation`` tells.

    Returns
    -------
    TrainingPlan
    """
    target, seed = estimator.target_, estimator.seed_
    validation = None if given is not None else resolve_validation(estimator, known, target)
    check_validation(estimator, validation, given is not None)
    splits: list[tuple[LabelledBags, LabelledBags | None]] = [(known, given)]
    if given is None:
        try:
            splits = split_validation(known, target, validation, random_integer(seed, Purpose.SPLIT))
        except InputError:  # too few bags to hold any out
            if estimator.validation != AUTO or list_uses_of_held_out_bags(estimator):
                raise
    is_single = len(splits) == 1
    seeds = [seed if is_single else random_integer(seed, Purpose.MEMBER, number) for number in range(len(splits))]
    parts = [make_part(*split, target, estimator.class_weight, seed) for split, seed in zip(splits, seeds, strict=True)]
    chooses_epoch = given is not None or isinstance(validation, float)
    return TrainingPlan(make_training_settings(estimator, parts, chooses_epoch), parts, chooses_epoch, known.weights)


def check_network_parameters(estimator: Any, target: Target) -> None:
    """Check the parameters that are checked neither by the training settings nor by the parts of the model."""
    check_whole_number("attention_width", estimator.attention_width, minimum=1)
    check_whole_number("heads", estimator.heads, minimum=1)
    resolve_memory(estimator.memory, torch.device("cpu"))
    check_bool("threshold", estimator.threshold)
    if estimator.calibration != AUTO:
        check_bool("calibration", estimator.calibration)
    if estimator.calibration is True:
        check_calibration(target)
    if estimator.threshold:
        check_threshold(target)


def resolve_validation(estimator: Any, known: LabelledBags, target: Target) -> float | int | None:
    """Return the share of the bags to hold out, the number of folds, or None to hold out no bags.

    "auto" holds out a share if there are so many bags that the share chooses the epoch reliably, or if ``patience`` is
    set, and makes folds otherwise.
    """
    validation, has_patience = estimator.validation, estimator.patience not in (None, AUTO)
    if validation == AUTO:
        rows, groups = known.weighted_rows, known.bags.groups
        n_rarest = int(np.unique(target.make_strata(known.targets[rows]), return_counts=True)[1].min())
        n_units = len(rows) if groups is None else len(np.unique(groups[rows]))
        is_large = n_units >= MIN_BAGS_FOR_SHARE and n_rarest >= MIN_BAGS_OF_CLASS_FOR_SHARE
        if has_patience or (is_large and not estimator.averaging):
            return HELD_OUT_SHARE
        return FOLDS
    if validation is None or (isinstance(validation, int) and not isinstance(validation, bool) and validation > 1):
        return validation
    try:
        return check_real_number("validation", validation, above=0, below=1)
    except InputError:
        raise InputError(
            f"validation is {describe_value(validation)}; it must be a share between 0 and 1, a number of folds of at "
            "least 2, 'auto' or None"
        ) from None


def check_validation(estimator: Any, validation: float | int | None, has_validation_bags: bool) -> None:
    """Reject parameters that need held-out bags if there are none, or that contradict the way they are used."""
    has_share = has_validation_bags or isinstance(validation, float)
    if estimator.averaging and has_share:
        raise InputError(
            "averaging and validation cannot be combined: the model is either the average of the last epochs or the "
            "best epoch on the validation bags; set averaging=0, or validation=None or a number of folds (on the "
            "command line, omit --averaging or --validation)"
        )
    if estimator.patience not in (None, AUTO) and not has_share:
        raise InputError(
            "patience needs one set of validation bags; set validation to a share, e.g. validation=0.2 (on the command "
            "line: --validation 0.2)"
        )
    uses = list_uses_of_held_out_bags(estimator)
    if uses and validation is None and not has_validation_bags:
        raise InputError(
            f"the {uses[0]} is learned from held-out bags; set validation, e.g. validation=0.2 or validation=5 (on the "
            "command line: --validation 0.2 or --validation 5)"
        )


def list_uses_of_held_out_bags(estimator: Any) -> list[str]:
    """List what the parameters demand to be learned from held-out bags."""
    wanted = {
        "calibration": estimator.calibration is True,
        "threshold": estimator.threshold,
        "epoch": estimator.patience not in (None, AUTO),
    }
    return [use for use, is_wanted in wanted.items() if is_wanted]


def make_training_settings(estimator: Any, parts: list[TrainingPart], chooses_epoch: bool) -> TrainingSettings:
    """Return the training settings given by the parameters of an estimator, for its networks."""
    names = TrainingSettings.__dataclass_fields__.keys() - {"seed"}
    given = {name: getattr(estimator, name) for name in names}
    if estimator.epochs == AUTO:
        has_many_bags = len(parts) > 1 and sum(len(part.held_out.bags) for part in parts if part.held_out) > MANY_BAGS
        given["epochs"] = EPOCHS_OF_MANY_BAGS if has_many_bags else EPOCHS
    if estimator.patience == AUTO:
        given["patience"] = PATIENCE if chooses_epoch else None
    return TrainingSettings(seed=estimator.seed_, **given)


def split_validation(
    known: LabelledBags, target: Target, validation: float | int | None, seed: int
) -> list[tuple[LabelledBags, LabelledBags | None]]:
    """Return the training bags and the held-out bags of each network, stratified by target, with groups kept together.

    Parameters
    ----------
    known : LabelledBags
        All bags.
    target : Target
        Their target.
    validation : float, int or None
        Share of the bags to hold out, number of folds, or None for no held-out bags.
    seed : int
        Random seed of the split.

    Returns
    -------
    list of tuple of (LabelledBags, LabelledBags or None)
        One pair, or one per fold; there are fewer folds if a class has fewer bags, or if there are fewer groups.

    Raises
    ------
    InputError
        If there are too few bags or groups.
    """
    if validation is None:
        return [(known, None)]
    rows = known.weighted_rows
    without_weight = np.setdiff1d(np.arange(len(known.bags)), rows)  # never held out, so their targets do not matter
    strata = target.make_strata(known.targets[rows])
    groups = None if known.bags.groups is None else known.bags.groups[rows]
    if isinstance(validation, float):
        splits = [hold_out(strata, groups, validation, seed)]
    else:
        splits = make_inner_folds(strata, groups, validation, seed)
    return [
        (known.select(np.sort(np.append(rows[training], without_weight))), known.select(rows[held_out]))
        for training, held_out in splits
    ]


def make_part(
    training: LabelledBags, held_out: LabelledBags | None, target: Target, class_weight: ClassWeight, seed: int
) -> TrainingPart:
    """Return the tasks of one network; training and held-out bags use class weights computed from the training bags."""

    def make_task(part: LabelledBags) -> TrainingTask:
        importance = target.weigh_bags(part.targets, class_weight, training.targets)
        if part.weights is not None:
            importance = (importance * part.weights).astype(importance.dtype)
            if not importance.any():
                raise InputError(
                    "all training bags or all validation bags have a weight of 0, which is sample_weight times "
                    "class_weight; change one of them"
                )
        return TrainingTask(part.bags, part.targets, importance)

    if held_out is None:
        return TrainingPart(make_task(training), None, seed)
    return TrainingPart(make_task(training), make_task(held_out), seed, held_out.rows)


def describe_fit(estimator: Any, plan: TrainingPlan, engine: str) -> dict[str, Any]:
    """Return everything that must be the same in a checkpoint and in the fit that resumes from it."""
    tasks = {"training bags": [part.training for part in plan.parts]}
    tasks["validation bags"] = [part.held_out for part in plan.parts if part.held_out is not None]
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
        "engine": engine,
        "encoder": to_plain(estimator.encoder),
        **context,
        **target,
        **weighted,
        "pooling": to_plain(estimator.pooling),
        "augmentation": to_plain(estimator.augmentation),
        **{name: [fingerprint_bags(task.bags, task.targets) for task in given] for name, given in tasks.items()},
    }
