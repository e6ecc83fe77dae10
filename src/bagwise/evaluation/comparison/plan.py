"""The plan of a comparison: data, methods with their parameters, and the protocol. It is stored as JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagwise.arguments import check_whole_number
from bagwise.bags import Bags
from bagwise.data import get_labels, open_source
from bagwise.data.datasets import DATASETS
from bagwise.errors import InputError
from bagwise.estimators import (
    Adjusted,
    BagEstimator,
    Ensemble,
    Selected,
    build_method,
    resolve_method_name,
    set_positive,
)
from bagwise.evaluation.protocol import (
    Split,
    check_split_strata,
    check_splits,
    make_repeated_folds,
    make_repeated_hold_out,
    read_splits,
)
from bagwise.targets import Target

FOLDS = 10  # default for data without its own test bags
ADJUSTMENTS = ("calibration", "threshold")


class ComparisonPlan(NamedTuple):
    """Everything that determines the numbers of a comparison; they do not depend on the number of workers.

    Attributes
    ----------
    data : str
        Name of a data set, or path of a folder or file.
    options : dict
        Options of the data set or reader.
    methods : dict of str to dict
        Parameters of each method, by its full name.
    selection : dict of str to dict
        Parameter grids of the methods whose parameters are selected within the training bags.
    folds : int or None
        Number of folds. None for the data set's own test bags (ten folds if it has none), a hold-out, or splits from
        files.
    repeats : int
        Number of repeats.
    hold_out : float or None
        Share of the bags to hold out, instead of folds.
    splits : list of str
        Split files, instead of folds.
    adjust : list of str
        Which of "calibration" and "threshold" are fitted within the training bags.
    ensemble : int
        Number of copies of each method with different seeds, whose predictions are averaged; 1 for no ensemble.
    grouped : bool
        Whether the bags of a group stay together.
    seed : int
        Seed of folds and methods.
    peeking : bool, default=False
        Whether networks choose their epoch on the test bags, only to show how optimistic such metrics are.
    positive : str or None, default=None
        The positive one of two classes; None chooses it.
    """

    data: str
    options: dict[str, Any]
    methods: dict[str, dict[str, Any]]
    selection: dict[str, dict[str, list[Any]]]
    folds: int | None
    repeats: int
    hold_out: float | None
    splits: list[str]
    adjust: list[str]
    ensemble: int
    grouped: bool
    seed: int
    peeking: bool = False
    positive: str | None = None

    @property
    def n_folds(self) -> int:
        """Number of fits per method and repeat; one for a hold-out or for data with its own test bags."""
        if self.splits:
            return len(self.splits)
        if self.hold_out is not None:
            return 1
        if self.folds is not None:
            return self.folds
        dataset = DATASETS.get(self.data)
        has_test_bags = "splits" in self.options or (dataset is not None and bool(dataset.splits))
        return 1 if has_test_bags else FOLDS


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
    positive: str | None = None,
) -> ComparisonPlan:
    """Make the plan of a comparison; unknown methods and parameters are rejected here.

    Parameters
    ----------
    data : str
        Name of a data set, or path of a folder of bags, a table or a folder of images.
    methods : dict of str to dict
        Parameters of each method, by its name, e.g. ``{"attention": {"epochs": 50}, "MI-SVM": {}}``.
    options : dict, default=None
        Options of the data set or reader.
    selection : dict of str to dict, default=None
        Parameter grids: the parameters of these methods are selected by cross-validation within the training bags.
    folds : int, default=None
        Number of folds. None uses the data set's own test bags, or ten folds if it has none.
    repeats : int, default=1
        Number of repeats. Each has different folds or, with the data set's own test bags, different seeds of the
        methods.
    hold_out : float, default=None
        Share of the bags to hold out, instead of folds.
    splits : sequence of str, default=()
        Split files with the columns train, val and test, instead of folds.
    adjust : sequence of {"calibration", "threshold"}, default=()
        What to fit within the training bags, for every method.
    ensemble : int, default=1
        Number of copies of each method with different seeds, whose predictions are averaged.
    grouped : bool, default=True
        Keep the bags of a group (e.g. a patient) together.
    seed : int, default=0
        Seed of folds and methods.
    positive : str or None, default=None
        The positive one of two classes, to which precision, recall, F-score and thresholds refer; None chooses it.

    Returns
    -------
    ComparisonPlan

    Raises
    ------
    InputError
        If a method, parameter or protocol is invalid.
    """
    named_methods = {resolve_method_name(name): parameters for name, parameters in methods.items()}
    if not named_methods:
        raise InputError("there are no methods to compare; name at least one, e.g. --methods attention,MI-SVM")
    grids = {resolve_method_name(name): grid for name, grid in (selection or {}).items()}
    if unused := grids.keys() - named_methods.keys():
        raise InputError(
            f"there is a parameter grid for {', '.join(sorted(unused))}, which is not compared; add it to the methods, "
            "or remove the grid"
        )
    if unknown := set(adjust) - set(ADJUSTMENTS):
        raise InputError(f"adjust: {', '.join(sorted(unknown))} is unknown; choose among {', '.join(ADJUSTMENTS)}")
    _check_protocol(folds, repeats, hold_out, splits)
    plan = ComparisonPlan(
        data=data,
        options=options or {},
        methods=named_methods,
        selection=grids,
        folds=folds,
        repeats=repeats,
        hold_out=hold_out,
        splits=[str(Path(path).resolve()) for path in splits],
        adjust=list(adjust),
        ensemble=check_whole_number("ensemble", ensemble, minimum=1),
        grouped=grouped,
        seed=check_whole_number("seed", seed, minimum=0),
        positive=positive,
    )
    for name, parameters in named_methods.items():
        if "random_state" in parameters:
            raise InputError(
                f"{name}: random_state cannot be set, because every fit gets its own seed, derived from the seed of "
                "the comparison; use seed (--seed) instead"
            )
        build_estimator(plan, name)
    return plan


def _check_protocol(folds: int | None, repeats: int, hold_out: float | None, splits: Sequence[str]) -> None:
    """Reject more than one protocol, because all but one would be ignored."""
    if sum((folds is not None, hold_out is not None, bool(splits))) > 1:
        raise InputError("--folds, --hold-out and --splits are mutually exclusive; give one of them")
    if splits and repeats != 1:
        raise InputError("splits from files cannot be repeated; leave --repeats out")


def build_estimator(plan: ComparisonPlan, name: str) -> BagEstimator:
    """Build the estimator of a method of the plan."""
    estimator = set_positive(build_method(name, **plan.methods[name]), plan.positive)
    if name in plan.selection:
        estimator = Selected(estimator, plan.selection[name]).checked()
    if plan.ensemble > 1:
        estimator = Ensemble(estimator, plan.ensemble)
    if plan.adjust:
        estimator = Adjusted(estimator, **{kind: kind in plan.adjust for kind in ADJUSTMENTS})
    return estimator


class ComparisonData(NamedTuple):
    """The bags of a plan, their labels, the target, and the splits."""

    bags: Bags
    labels: np.ndarray
    target: Target
    splits: list[Split]


def open_comparison_data(plan: ComparisonPlan) -> ComparisonData:
    """Open the data of a plan and make its splits.

    The data set's own test bags are used if there are any and the plan specifies no other protocol.
    """
    source = open_source(plan.data, **plan.options)
    has_protocol = plan.folds is not None or plan.hold_out is not None or plan.splits
    uses_own_test = source.test is not None and not has_protocol
    bags = Bags.concatenate([source.training, source.test]) if uses_own_test and source.test else source.training
    labels = get_labels(bags, plan.data)
    target = _learn_target(plan, labels)
    strata = target.make_strata(target.encode(labels, len(bags)))
    n_training = len(source.training)
    splits = _use_own_test_bags(plan, bags, n_training) if uses_own_test else _make_splits(plan, bags, strata)
    for split in splits:
        check_split_strata(split, strata)
    return ComparisonData(bags, labels, target, splits)


def _learn_target(plan: ComparisonPlan, labels: np.ndarray) -> Target:
    """Learn the target of all methods; reject the methods that cannot predict it, before anything is fitted."""
    targets, refusals = [], {}
    for name in plan.methods:
        try:
            targets.append(build_estimator(plan, name).learn_target(labels, len(labels)))
        except InputError as error:
            refusals[name] = error
    if refusals and targets:
        raise InputError(
            f"'{plan.data}' has {targets[0].describe()}, which {', '.join(refusals)} cannot predict: "
            f"{next(iter(refusals.values()))}; leave out these methods"
        )
    if refusals:
        raise next(iter(refusals.values()))
    return targets[0]


def _make_splits(plan: ComparisonPlan, bags: Bags, strata: np.ndarray) -> list[Split]:
    if plan.splits:
        return read_splits(bags, plan.splits, plan.grouped)
    if plan.hold_out is not None:
        return make_repeated_hold_out(bags, strata, plan.hold_out, plan.repeats, seed=plan.seed, grouped=plan.grouped)
    folds = FOLDS if plan.folds is None else plan.folds
    return make_repeated_folds(bags, strata, folds, plan.repeats, seed=plan.seed, grouped=plan.grouped)


def _use_own_test_bags(plan: ComparisonPlan, bags: Bags, n_training: int) -> list[Split]:
    """Use the data's own split; repeats differ only in the seeds of the methods."""
    rows = np.arange(len(bags))
    splits = [
        Split(repeat=repeat, fold=0, training=rows[:n_training], test=rows[n_training:])
        for repeat in range(check_whole_number("repeats", plan.repeats, minimum=1))
    ]
    return check_splits(splits, bags.groups if plan.grouped else None)
