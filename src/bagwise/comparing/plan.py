"""What a comparison consists of: data, methods with their parameters, a protocol; stored as JSON, found again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.holding.adjusted import Adjusted
from bagwise.estimators.holding.ensemble import Ensemble
from bagwise.estimators.holding.selected import Selected
from bagwise.estimators.methods import build_method, method_name
from bagwise.evaluation.protocol import Split, check_classes, checked, from_files, repeated_folds, repeated_hold_out
from bagwise.quantities import whole_number
from bagwise.runs import known_labels
from bagwise.sources import open_source

FOLDS = 10
ADJUSTMENTS = ("temperature", "threshold")


class Plan(NamedTuple):
    """Everything that decides the numbers of a comparison; the number of workers is not part of it."""

    data: str
    options: dict[str, Any]
    methods: dict[str, dict[str, Any]]  # parameters of each
    selection: dict[str, dict[str, list[Any]]]  # grids of those whose parameters are chosen within training bags
    folds: int | None  # None where the splits come from elsewhere
    repeats: int
    hold_out: float | None
    splits: list[str]  # files, instead of folds
    adjust: list[str]  # of "temperature" and "threshold", learned within the training bags
    ensemble: int  # copies of each method that differ in their seed
    grouped: bool
    seed: int
    peeking: bool = False  # whether networks choose their epoch on the test bags: to show what that promises, no more


def make_plan(
    data: str,
    methods: dict[str, dict[str, Any]],
    *,
    options: dict[str, Any] | None = None,
    selection: dict[str, dict[str, list[Any]]] | None = None,
    folds: int | None = None,
    repeats: int = 1,
    hold_out: float | None = None,
    splits: Sequence[str] = (),
    adjust: Sequence[str] = (),
    ensemble: int = 1,
    grouped: bool = True,
    seed: int = 0,
) -> Plan:
    """A plan with every method under its full name, and parameters that its estimator has.

    folds : None takes the data set's own test bags where it has some, else ten folds
    """
    named = {method_name(name): parameters for name, parameters in methods.items()}
    if not named:
        raise InputError("there are no methods to compare; name at least one")
    grids = {method_name(name): grid for name, grid in (selection or {}).items()}
    if left := grids.keys() - named.keys():
        raise InputError(f"parameters are to be selected for {', '.join(sorted(left))}, which is not compared")
    if unknown := set(adjust) - set(ADJUSTMENTS):
        raise InputError(f"adjust: {', '.join(sorted(unknown))} is unknown; choose among {', '.join(ADJUSTMENTS)}")
    _check_protocol(folds, repeats, hold_out, splits)
    plan = Plan(
        data,
        options or {},
        named,
        grids,
        folds,
        repeats,
        hold_out,
        [str(Path(path).resolve()) for path in splits],
        list(adjust),
        whole_number("ensemble", ensemble, least=1),
        grouped,
        whole_number("seed", seed, least=0),
    )
    for name, parameters in named.items():
        if "random_state" in parameters:
            raise InputError(
                f"random_state of {name}: every fit has a seed of its own, drawn from the plan's; use seed"
            )
        build(plan, name)
    return plan


def _check_protocol(folds: int | None, repeats: int, hold_out: float | None, splits: Sequence[str]) -> None:
    """Refuse two protocols at once, of which one would not be heard."""
    if sum((folds is not None, hold_out is not None, bool(splits))) > 1:
        raise InputError("folds, hold-out and splits from files are three protocols; give one of them")
    if splits and repeats != 1:
        raise InputError("splits from files are what they are; leave repeats out")


def build(plan: Plan, name: str) -> BagEstimator:
    """The estimator of a method of the plan."""
    estimator = build_method(name, **plan.methods[name])
    if name in plan.selection:
        estimator = Selected(estimator, plan.selection[name]).checked()
    if plan.ensemble > 1:
        estimator = Ensemble(estimator, plan.ensemble)
    if plan.adjust:
        estimator = Adjusted(estimator, **{word: word in plan.adjust for word in ADJUSTMENTS})
    return estimator


class Material(NamedTuple):
    """The bags of a plan, their labels, and its splits."""

    bags: Bags
    labels: np.ndarray
    splits: list[Split]


def open_material(plan: Plan) -> Material:
    """Open the data and draw the splits: the data set's own test bags where it has some and nothing else is asked."""
    source = open_source(plan.data, **plan.options)
    asked = plan.folds is not None or plan.hold_out is not None or plan.splits
    if source.test is not None and not asked:
        material = _fixed(plan, source.training, source.test)
    else:
        material = _drawn(plan, source.training)
    for split in material.splits:
        check_classes(split, material.labels)
    return material


def _drawn(plan: Plan, bags: Bags) -> Material:
    labels = known_labels(bags, plan.data)
    if plan.splits:
        splits = from_files(bags, plan.splits, plan.grouped)
    elif plan.hold_out is not None:
        splits = repeated_hold_out(bags, labels, plan.hold_out, plan.repeats, seed=plan.seed, grouped=plan.grouped)
    else:
        folds = FOLDS if plan.folds is None else plan.folds
        splits = repeated_folds(bags, labels, folds, plan.repeats, seed=plan.seed, grouped=plan.grouped)
    return Material(bags, labels, splits)


def _fixed(plan: Plan, training: Bags, test: Bags) -> Material:
    """One split, given by the data; repeats differ in the methods' seeds alone."""
    bags = Bags.concatenate([training, test])
    rows = np.arange(len(bags))
    repeats = range(whole_number("repeats", plan.repeats, least=1))
    splits = [Split(repeat, 0, rows[: len(training)], rows[len(training) :]) for repeat in repeats]
    return Material(bags, known_labels(bags, plan.data), checked(splits, bags.groups if plan.grouped else None))
