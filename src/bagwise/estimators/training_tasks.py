"""Preparation of network training: the bags that each network is trained and validated on.

Bags are held out in one of two ways. A share of them chooses the best epoch of one network; or folds give one network
per fold, trained without the bags of the fold to the last epoch, and the scores of the networks are averaged. In both,
the scores of the held-out bags calibrate the probabilities. Folds use few bags better: a share of them is too small to
choose an epoch, and the average varies less than one network.
"""

import hashlib
import numbers
import warnings
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from bagwise.bags import Bags, fingerprint_bags, hold_out, make_inner_folds
from bagwise.errors import InputError
from bagwise.estimators.base import ClassWeight
from bagwise.estimators.calibration import CalibrationWarning
from bagwise.estimators.network_parameters import (
    check_uses_of_held_out_bags,
    has_patience,
    is_auto,
    list_uses_of_held_out_bags,
)
from bagwise.estimators.serialization import to_plain
from bagwise.nn import Purpose, random_integer
from bagwise.targets import AUTO, Target
from bagwise.training import TrainingSettings, TrainingTask

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
LACKS_CLASS = "the validation bags have no bag of a class, so they cannot calibrate the probabilities"
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
    calibrates : bool
        Whether the held-out bags calibrate the probabilities.
    sample_weight : ndarray or None, default=None
        Weights of all given bags.
    """

    settings: TrainingSettings
    parts: list[TrainingPart]
    chooses_epoch: bool
    calibrates: bool
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
    validation = resolve_validation(estimator, known, target) if given is None else None
    check_uses_of_held_out_bags(estimator, validation, given is not None)
    splits: list[tuple[LabelledBags, LabelledBags | None]] = [(known, given)]
    if given is None:
        try:
            splits = split_validation(known, target, validation, random_integer(seed, Purpose.SPLIT))
        except InputError as error:  # too few bags to hold any out
            if not is_auto(estimator.validation) or list_uses_of_held_out_bags(estimator):
                raise
            warnings.warn(
                "no bags are held out, so one network is trained to the last epoch, and its probabilities are not "
                f"calibrated: {error}",
                CalibrationWarning,
                stacklevel=4,
            )
    is_single = len(splits) == 1
    seeds = [seed if is_single else random_integer(seed, Purpose.MEMBER, number) for number in range(len(splits))]
    parts = [make_part(*split, target, estimator.class_weight, seed) for split, seed in zip(splits, seeds, strict=True)]
    chooses_epoch = given is not None or isinstance(validation, float)
    calibrates = target.has_calibration if is_auto(estimator.calibration) else bool(estimator.calibration)
    if calibrates and given is not None and _lacks_class(known, given, target):
        if not is_auto(estimator.calibration):
            raise InputError(f"{LACKS_CLASS}; give bags of every class, or set calibration=False")
        warnings.warn(f"{LACKS_CLASS}; give bags of every class", CalibrationWarning, stacklevel=4)
        calibrates = False
    settings = make_training_settings(estimator, parts, chooses_epoch)
    return TrainingPlan(settings, parts, chooses_epoch, calibrates, known.weights)


def _lacks_class(known: LabelledBags, given: LabelledBags, target: Target) -> bool:
    missing = np.setdiff1d(target.make_strata(known.targets), target.make_strata(given.targets))
    return len(missing) > 0


def resolve_validation(estimator: Any, known: LabelledBags, target: Target) -> float | int | None:
    """Return the share of the bags to hold out, the number of folds, or None to hold out no bags.

    "auto" holds out a share if there are so many bags that the share chooses the epoch reliably, or if ``patience`` is
    set, and makes folds otherwise.
    """
    validation = estimator.validation
    if is_auto(validation):
        rows, groups = known.weighted_rows, known.bags.groups
        n_rarest = int(np.unique(target.make_strata(known.targets[rows]), return_counts=True)[1].min())
        n_units = len(rows) if groups is None else len(np.unique(groups[rows]))
        is_large = n_units >= MIN_BAGS_FOR_SHARE and n_rarest >= MIN_BAGS_OF_CLASS_FOR_SHARE
        if has_patience(estimator) or (is_large and not estimator.averaging):
            return HELD_OUT_SHARE
        return FOLDS
    if validation is None:
        return None
    return int(validation) if isinstance(validation, numbers.Integral) else float(validation)


def make_training_settings(estimator: Any, parts: list[TrainingPart], chooses_epoch: bool) -> TrainingSettings:
    """Return the training settings given by the parameters of an estimator, for its networks."""
    names = TrainingSettings.__dataclass_fields__.keys() - {"seed"}
    given = {name: getattr(estimator, name) for name in names}
    if is_auto(estimator.epochs):
        has_many_bags = len(parts) > 1 and sum(len(part.held_out.bags) for part in parts if part.held_out) > MANY_BAGS
        given["epochs"] = EPOCHS_OF_MANY_BAGS if has_many_bags else EPOCHS
    if is_auto(estimator.patience):
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
