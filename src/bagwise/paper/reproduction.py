"""Running an experiment of the paper: every model that is not yet trained, each written when it is done.

FOLDER/EXPERIMENT/SETTING/draw-0/    a comparison (see ``comparing``); a setting with several draws has several
"""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

from bagwise.comparing import compare
from bagwise.comparing.comparison import unit_path
from bagwise.comparing.plan import FOLDS, Plan
from bagwise.errors import InputError
from bagwise.estimators.methods import method_name
from bagwise.names import choose, nearest
from bagwise.paper.recipes import RECIPES, Setting
from bagwise.paper.recipes.protocols import DEFAULT, under
from bagwise.working.cluster import Cluster


def reproduce(
    folder: str | Path,
    experiment: str,
    *,
    repeats: int = 5,
    quick: bool = False,
    only: Sequence[str] = (),
    protocol: str = DEFAULT,
    workers: int | Cluster = 1,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Path:
    """Train and judge what is left of an experiment, and say where its results lie.

    repeats : of the folds, or draws of the training bags; more may be asked for later
    only : settings (``musk1``, ``size-10-bags-50``) or methods to do now
    protocol : by which bags networks choose their epoch (see ``recipes.protocols``)
    """
    place = Path(folder) / (f"{experiment}-quick" if quick else experiment)
    settings = under(protocol, chosen_settings(experiment, repeats, quick, only))
    if not settings:
        raise InputError("none of the methods is a network, whose epoch could be chosen; leave the protocol out")
    plans = {
        place / setting.name / f"draw-{draw}": plan for setting in settings for draw, plan in enumerate(setting.plans)
    }
    of = sum(len(fits(plan)) for plan in plans.values())
    for into, plan in plans.items():
        elsewhere = sum(_written(other, plans[other]) for other in plans if other != into)
        compare(
            into,
            plan,
            workers=workers,
            progress=lambda done, _, elsewhere=elsewhere: progress(elsewhere + done, of),  # type: ignore[misc]
        )
    return place


def chosen_settings(experiment: str, repeats: int, quick: bool, only: Sequence[str]) -> list[Setting]:
    """The settings of an experiment, with the methods that are asked for."""
    found = choose(experiment, RECIPES, "experiment").settings(repeats, quick)
    there = list(dict.fromkeys(method for setting in found for method in setting.methods))
    named = {setting.name: setting for setting in found}
    settings = [named[word] for word in only if word in named] or found
    whole = f"{experiment} --quick" if quick else experiment
    methods = [_method(word, whole, [*named], there) for word in only if word not in named]
    return [setting._replace(plans=[_with_methods(plan, methods) for plan in setting.plans]) for setting in settings]


def fits(plan: Plan) -> list[tuple[str, int, int]]:
    """The models that a plan trains: method, repeat and fold of each."""
    folds = 1 if plan.data == "mnist-bags" else plan.folds or FOLDS  # the digits have test bags of their own
    return list(product(plan.methods, range(plan.repeats), range(folds)))


def _written(folder: Path, plan: Plan) -> int:
    """How many of them are done."""
    return sum(unit_path(folder, *fit).exists() for fit in fits(plan))


def _method(word: str, whole: str, settings: list[str], there: list[str]) -> str:
    try:
        method = method_name(word)
    except InputError:
        known = [*settings, *there]
        raise InputError(f"--only: '{word}' is neither a setting nor a method; {nearest(word, known)}") from None
    if method not in there:
        raise InputError(f"--only: '{method}' is no method of {whole}, which has {', '.join(there)}")
    return method


def _with_methods(plan: Plan, methods: Sequence[str]) -> Plan:
    if not methods:
        return plan
    return plan._replace(
        methods={name: value for name, value in plan.methods.items() if name in methods},
        selection={name: value for name, value in plan.selection.items() if name in methods},
    )
