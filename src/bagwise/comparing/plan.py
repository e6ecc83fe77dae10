"""What a comparison consists of: data, methods with their parameters, a protocol; stored as JSON, found again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.contract import BagEstimator
from bagwise.estimators.holding.adjusted import Adjusted
from bagwise.estimators.holding.selected import Selected
from bagwise.estimators.methods import build_method, method_name
from bagwise.evaluation.protocol import Split, checked, from_files, repeated_folds, repeated_hold_out
from bagwise.runs import known_labels
from bagwise.sources import open_source

ADJUSTMENTS = ("temperature", "threshold")


class Plan(NamedTuple):
    """Everything that decides the numbers of a comparison; the number of workers is not part of it."""

    data: str
    options: dict[str, Any]
    methods: dict[str, dict[str, Any]]  # parameters of each
    selection: dict[str, dict[str, list[Any]]]  # grids of those whose parameters are chosen within training bags
    folds: int
    repeats: int
    hold_out: float | None
    splits: list[str]  # files, instead of folds
    adjust: list[str]  # of "temperature" and "threshold", learned within the training bags
    grouped: bool
    seed: int


def make_plan(
    data: str,
    methods: dict[str, dict[str, Any]],
    *,
    options: dict[str, Any] | None = None,
    selection: dict[str, dict[str, list[Any]]] | None = None,
    folds: int = 10,
    repeats: int = 1,
    hold_out: float | None = None,
    splits: Sequence[str] = (),
    adjust: Sequence[str] = (),
    grouped: bool = True,
    seed: int = 0,
) -> Plan:
    """A plan with every method under its full name, and parameters that its estimator has."""
    named = {method_name(name): parameters for name, parameters in methods.items()}
    if not named:
        raise InputError("there are no methods to compare; name at least one")
    grids = {method_name(name): grid for name, grid in (selection or {}).items()}
    if left := grids.keys() - named.keys():
        raise InputError(f"parameters are to be selected for {', '.join(sorted(left))}, which is not compared")
    if unknown := set(adjust) - set(ADJUSTMENTS):
        raise InputError(f"adjust: {', '.join(sorted(unknown))} is unknown; choose among {', '.join(ADJUSTMENTS)}")
    files = [str(Path(path).resolve()) for path in splits]
    plan = Plan(data, options or {}, named, grids, folds, repeats, hold_out, files, list(adjust), grouped, seed)
    for name in named:
        build(plan, name)
    return plan


def build(plan: Plan, name: str) -> BagEstimator:
    """The estimator of a method of the plan."""
    estimator = build_method(name, **plan.methods[name])
    if name in plan.selection:
        estimator = Selected(estimator, plan.selection[name])
    if plan.adjust:
        estimator = Adjusted(estimator, **{word: word in plan.adjust for word in ADJUSTMENTS})
    return estimator


class Material(NamedTuple):
    """The bags of a plan, their labels, and its splits."""

    bags: Bags
    labels: np.ndarray
    splits: list[Split]


def open_material(plan: Plan) -> Material:
    """Open the data and draw the splits: the data set's own test bags where it has some and no folds are asked for."""
    source = open_source(plan.data, **plan.options)
    if source.test is not None and not plan.splits:
        return _fixed(plan, source.training, source.test)
    labels = known_labels(source.training, plan.data)
    if plan.splits:
        splits = from_files(source.training, plan.splits, plan.grouped)
    elif plan.hold_out is not None:
        splits = repeated_hold_out(
            source.training, labels, plan.hold_out, plan.repeats, seed=plan.seed, grouped=plan.grouped
        )
    else:
        splits = repeated_folds(source.training, labels, plan.folds, plan.repeats, seed=plan.seed, grouped=plan.grouped)
    return Material(source.training, labels, splits)


def _fixed(plan: Plan, training: Bags, test: Bags) -> Material:
    """One split, given by the data; repeats differ in the methods' seeds alone."""
    bags = Bags.concatenate([training, test])
    rows = np.arange(len(bags))
    splits = [Split(repeat, 0, rows[: len(training)], rows[len(training) :]) for repeat in range(plan.repeats)]
    return Material(bags, known_labels(bags, plan.data), checked(splits, bags.groups if plan.grouped else None))
