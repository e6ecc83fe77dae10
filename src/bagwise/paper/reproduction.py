"""Reproduction of an experiment: trains all missing models and writes the result of each when it is done.

FOLDER/EXPERIMENT/SETTING/draw-0/    a comparison (see ``bagwise.evaluation.comparison``), one per draw
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from bagwise.arguments import choose_by_name, suggest_name
from bagwise.errors import InputError
from bagwise.estimators import resolve_method_name
from bagwise.evaluation.comparison import ComparisonPlan, compare_methods, get_unit_path
from bagwise.paper.experiments import Setting
from bagwise.paper.protocols import DEFAULT_PROTOCOL, apply_protocol
from bagwise.paper.recipes import RECIPES
from bagwise.parallel import DaskCluster


def reproduce_experiment(
    folder: str | Path,
    experiment: str,
    *,
    repeats: int | None = None,
    quick: bool = False,
    only: Sequence[str] = (),
    protocol: str = DEFAULT_PROTOCOL,
    workers: int | DaskCluster = 1,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Path:
    """Train and evaluate the remaining models of an experiment.

    Parameters
    ----------
    folder : str or Path
        Folder of all experiments; results of earlier calls are kept.
    experiment : {"table1", "mnist-bags", "breast", "colon", "claims", "defaults"}
        Name of the experiment.
    repeats : int or None, default=None
        Number of repeats of the folds, or of draws of the training bags; more can be added later. None means that of
        the recipe, or 1 for the quick version.
    quick : bool, default=False
        Run a small version, in a separate folder.
    only : sequence of str, default=()
        Settings (e.g. ``size-10-bags-50``), data sets (e.g. ``musk1``) or methods to run now; if empty, all except
        settings that are run on request only.
    protocol : {"last epoch", "validation", "test fold"}, default="last epoch"
        How networks choose their epoch; see ``bagwise.paper.protocols``.
    workers : int or DaskCluster, default=1
        Number of processes on this machine, or a Dask cluster. Results do not depend on it.
    progress : callable, optional
        Called as ``progress(done, total)`` after every fit.

    Returns
    -------
    Path
        Folder of the experiment.

    Raises
    ------
    InputError
        If the experiment, a setting, a method or the protocol is unknown.
    """
    experiment_folder = Path(folder) / (f"{experiment}-quick" if quick else experiment)
    n_repeats = choose_by_name(experiment, RECIPES, "experiment").count_repeats(repeats, quick)
    settings = apply_protocol(protocol, choose_settings(experiment, n_repeats, quick, only))
    if not settings:
        raise InputError(
            f"none of the methods is a network whose epoch can be chosen by '{protocol}'; leave --protocol out"
        )
    plans = {
        experiment_folder / setting.name / f"draw-{draw}": plan
        for setting in settings
        for draw, plan in enumerate(setting.plans)
    }
    total = sum(len(list_fits(plan)) for plan in plans.values())

    def report_progress(done_elsewhere: int, done: int, _: int) -> None:
        progress(done_elsewhere + done, total)

    for plan_folder, plan in plans.items():
        done_elsewhere = sum(_count_done(other, plans[other]) for other in plans if other != plan_folder)
        compare_methods(plan_folder, plan, workers=workers, progress=partial(report_progress, done_elsewhere))
    return experiment_folder


def list_fits(plan: ComparisonPlan) -> list[tuple[str, int, int]]:
    """Return method, repeat and fold of each model that a plan trains."""
    return list(product(plan.methods, range(plan.repeats), range(plan.n_folds)))


def _count_done(folder: Path, plan: ComparisonPlan) -> int:
    return sum(get_unit_path(folder, *fit).exists() for fit in list_fits(plan))


def choose_settings(experiment: str, repeats: int, quick: bool, only: Sequence[str]) -> list[Setting]:
    """Return the settings of an experiment with the methods to run; ``only`` contains names of settings and methods."""
    all_settings = choose_by_name(experiment, RECIPES, "experiment").settings(repeats, quick)
    by_name: dict[str, list[Setting]] = {}  # by the name of the setting, or of its data set
    for setting in all_settings:
        for name in dict.fromkeys((setting.name, *(plan.data for plan in setting.plans))):
            by_name.setdefault(name, []).append(setting)
    known_methods = list(dict.fromkeys(method for setting in all_settings for method in setting.methods))
    named = {setting.name: setting for name in only for setting in by_name.get(name, [])}
    settings = [*named.values()] or [setting for setting in all_settings if not setting.on_request]
    command = f"{experiment} --quick" if quick else experiment
    methods = [_resolve_method(name, command, [*by_name], known_methods) for name in only if name not in by_name]
    chosen = [
        setting._replace(plans=[_select_methods(plan, methods) for plan in setting.plans])
        for setting in settings
        if not methods or set(methods) & set(setting.methods)
    ]
    if not chosen:
        raise InputError(f"--only: {', '.join(named)} do not have {', '.join(methods)}; leave out the one or the other")
    return chosen


def _resolve_method(name: str, command: str, settings: list[str], methods: list[str]) -> str:
    try:
        method = resolve_method_name(name)
    except InputError:
        known = [*settings, *methods]
        raise InputError(f"--only: '{name}' is neither a setting nor a method; {suggest_name(name, known)}") from None
    if method not in methods:
        raise InputError(f"--only: '{method}' is not a method of {command}; choose among {', '.join(methods)}")
    return method


def _select_methods(plan: ComparisonPlan, methods: Sequence[str]) -> ComparisonPlan:
    if not methods:
        return plan
    return plan._replace(
        methods={name: value for name, value in plan.methods.items() if name in methods},
        selection={name: value for name, value in plan.selection.items() if name in methods},
    )
