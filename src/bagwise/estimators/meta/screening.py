"""Screening of methods: which ones are tried, how long they are expected to take, and what held-out bags show of them.

The duration of a fit, with the fits for held-out bags, is estimated from the sizes of the data: b bags with n instances
of d values each, in millionths of a second:

    network                      passes · n · (4 + d / 100)      for images passes · n · d / 8
    mi-Graph, MI-Kernel          n² (46 + d) / 10,000
    mi-SVM, MI-SVM               n² / 10
    miFV, EM-DD                  0.7 n d
    miVLAD, minimax kernel       0.1 n d + 0.01 b² d
    extra trees                  6 b √d log₂ b
    naive                        1.5 n √d log₂ n

plus a tenth of a second. The passes of a network are its epochs, times the networks, times the share of the bags that
each is trained on. Methods without folds of their own, such as trees, are fitted once per fold. The constants were
measured once, on one core, and do not depend on the machine, so that a budget selects the same methods everywhere. They
include no compilation, and they are no limit: nothing is stopped.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bagwise.arguments import check_real_number, describe_value
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.base import ClassicalEstimator
from bagwise.estimators.classical.em_dd import EMDD
from bagwise.estimators.classical.hyperplanes import MAX_EXACT_ROWS
from bagwise.estimators.classical.majority import MajorityClassifier
from bagwise.estimators.classical.mi_fv import MiFV
from bagwise.estimators.classical.mi_graph import MiGraph
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.classical.mi_svm import MISVM, MiSVM
from bagwise.estimators.classical.mi_vlad import MiVLAD
from bagwise.estimators.classical.minimax_kernel import MinimaxKernel
from bagwise.estimators.classical.naive import NaiveClassifier
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.methods import SINGLE_METHODS, resolve_name
from bagwise.estimators.network import BagNetwork
from bagwise.estimators.training_tasks import (
    EPOCHS,
    EPOCHS_OF_MANY_BAGS,
    FOLDS,
    MANY_BAGS,
    LabelledBags,
    resolve_validation,
)
from bagwise.targets import Metrics, Target

FIXED_SECONDS = 0.1
MAX_VALUES = 1 << 27  # of instances that a classical method holds in memory: 3 GB with its working copies
MAX_PAIRED_INSTANCES = 100_000  # of kernels between all pairs of instances, computed in blocks: minutes

# one method per idea: a network, trees, kernels between boxes, sets and graphs, vectors of bags, witnesses
DEFAULT_SCREEN = (
    "gated attention",
    "extra trees",
    "minimax kernel",
    "MI-Kernel",
    "mi-Graph",
    "miFV",
    "MI-SVM",
)


class ScreenedMethod(NamedTuple):
    """One row of the table of a screening.

    Attributes
    ----------
    name : str
        Name of the method.
    weight : float
        Its weight in the vote; 0 if it was dropped.
    seconds : float or None
        Estimated duration of its fit and of the predictions of held-out bags; None for estimators that are no methods.
    metrics : dict of str to float or None
        Metrics of the held-out training bags.
    """

    name: str
    weight: float
    seconds: float | None
    metrics: Metrics

    def as_dict(self) -> dict[str, Any]:
        """Return the row of a csv file."""
        return {"method": self.name, "weight": self.weight, "estimated_seconds": self.seconds, **self.metrics}


def build_screened_methods(screen: Any) -> dict[str, BagEstimator]:
    """Build the methods of a list by their canonical names.

    Parameters
    ----------
    screen : sequence of str or None
        Names of methods in any accepted spelling; None means ``DEFAULT_SCREEN``.

    Returns
    -------
    dict of str to BagEstimator
        The estimators, not fitted, in the order of the list.

    Raises
    ------
    InputError
        If it is no list, is empty, or has a name that is unknown, repeated, or that of a combination of methods.

    Examples
    --------
    >>> build_screened_methods(["Extra-Trees", "mi_graph"])
    {'extra trees': PooledClassifier(), 'mi-Graph': MiGraph()}
    """
    if screen is None:
        screen = DEFAULT_SCREEN
    is_list = isinstance(screen, Sequence) and not isinstance(screen, str)
    if not is_list or not screen or not all(isinstance(name, str) for name in screen):
        raise InputError(
            f"screen is {describe_value(screen)}; it must be a list of names of methods, e.g. "
            "['extra trees', 'mi-Graph'] (on the command line: --screen extra-trees,mi-Graph)"
        )
    try:
        names = [resolve_name(name, SINGLE_METHODS) for name in screen]
    except InputError as error:
        raise InputError(f"screen (--screen): {error}; combinations of methods cannot be screened") from None
    if repeated := [name for position, name in enumerate(names) if name in names[:position]]:
        raise InputError(f"screen has {repeated[0]} more than once; remove the repetition")
    return {name: SINGLE_METHODS[name].build() for name in names}


def estimate_seconds(estimator: BagEstimator, known: LabelledBags, target: Target, folds: int | None) -> float | None:
    """Estimate the duration of a fit and of the predictions of held-out bags.

    Parameters
    ----------
    estimator : BagEstimator
        Estimator of a method.
    known : LabelledBags
        Training bags.
    target : Target
        Their target.
    folds : int or None
        Number of folds in which the estimator is fitted again; None if it uses folds of its own.

    Returns
    -------
    float or None
        Seconds; None if the estimator is not one of a method.
    """
    validation = resolve_validation(estimator, known, target) if isinstance(estimator, BagNetwork) else None
    has_own_folds = isinstance(estimator, ClassicalEstimator) or (validation is not None and validation > 1)
    fits = 1 if folds is None and has_own_folds else (folds or FOLDS) + 1
    if isinstance(estimator, BagNetwork):
        work = _count_network_work(estimator, _measure(known.bags), validation)
    elif type(estimator) in WORK:
        work = WORK[type(estimator)](_measure(known.bags))
    else:
        return None
    return round(fits * (FIXED_SECONDS + work / 1e6), 1)


def is_feasible(estimator: BagEstimator, bags: Bags) -> bool:
    """Return whether a method can be fitted to so many instances with the memory and the time of a usual machine.

    It depends on the sizes of the data alone, so that the default list is the same on every machine.

    Parameters
    ----------
    estimator : BagEstimator
        Estimator of a method.
    bags : Bags
        Training bags.

    Returns
    -------
    bool
    """
    sizes = _measure(bags)
    if isinstance(estimator, MISVM | MiSVM):
        return sizes.instances <= MAX_EXACT_ROWS
    if isinstance(estimator, MIKernel | MiGraph) and sizes.instances > MAX_PAIRED_INSTANCES:
        return False
    return not isinstance(estimator, ClassicalEstimator) or sizes.instances * sizes.width <= MAX_VALUES


def select_within_budget(seconds: dict[str, float], budget: float) -> list[str]:
    """Select methods whose estimated durations fit into a budget together: the slowest ones are left out.

    Parameters
    ----------
    seconds : dict of str to float
        Estimated duration of each method.
    budget : float
        Seconds.

    Returns
    -------
    list of str
        The remaining names, in the given order.

    Raises
    ------
    InputError
        If not even the fastest method fits; the message has the smallest budget.

    Examples
    --------
    >>> select_within_budget({"slow": 50.0, "fast": 2.0, "medium": 9.0}, budget=20)
    ['fast', 'medium']
    """
    ordered = sorted(seconds, key=lambda name: seconds[name])  # stable, so that ties keep the order of the list
    totals = np.cumsum([seconds[name] for name in ordered])
    kept = ordered[: int((totals <= budget).sum())]
    if not kept:
        smallest = math.ceil(totals[0])
        raise InputError(
            f"budget is {budget:g} s, but {ordered[0]}, the fastest method, is expected to take {totals[0]:.1f} s; set "
            f"budget to at least '{smallest}s' (on the command line: --budget {smallest}s)"
        )
    return [name for name in seconds if name in kept]


class _Sizes(NamedTuple):
    """Sizes of the data: numbers of bags, of instances, and of values per instance; whether instances are images."""

    bags: int
    instances: int
    width: int
    is_image: bool


def _measure(bags: Bags) -> _Sizes:
    return _Sizes(len(bags), bags.n_instances, math.prod(bags.instance_shape), len(bags.instance_shape) > 1)


def _count_network_work(estimator: BagNetwork, sizes: _Sizes, validation: float | int | None) -> float:
    n_networks = validation if validation is not None and validation > 1 else 1
    share = 1 - 1 / n_networks if n_networks > 1 else 1 - (validation or 0)  # of the bags that each is trained on
    epochs = estimator.epochs
    if isinstance(epochs, str):
        epochs = EPOCHS_OF_MANY_BAGS if n_networks > 1 and sizes.bags > MANY_BAGS else EPOCHS
    cost = sizes.width / 8 if sizes.is_image else 4 + sizes.width / 100
    return epochs * n_networks * share * sizes.instances * cost


def _count_tree_work(rows: int, width: int) -> float:
    return rows * math.sqrt(width) * math.log2(rows + 1)


WORK: dict[type[BagEstimator], Callable[[_Sizes], float]] = {  # of the methods that are no networks
    **dict.fromkeys((MiGraph, MIKernel), lambda sizes: sizes.instances**2 * (46 + sizes.width) / 10_000),
    **dict.fromkeys((MISVM, MiSVM), lambda sizes: sizes.instances**2 / 10),
    **dict.fromkeys((MiFV, EMDD), lambda sizes: 0.7 * sizes.instances * sizes.width),
    **dict.fromkeys(
        (MiVLAD, MinimaxKernel),
        lambda sizes: 0.1 * sizes.instances * sizes.width + 0.01 * sizes.bags**2 * sizes.width,
    ),
    PooledClassifier: lambda sizes: 6 * _count_tree_work(sizes.bags, sizes.width),
    NaiveClassifier: lambda sizes: 1.5 * _count_tree_work(sizes.instances, sizes.width),
    MajorityClassifier: lambda sizes: 0.0,
}


def restore_screening(content: Any) -> list[ScreenedMethod]:
    """Return the saved table of a screening; reject invalid content, because the file may be forged."""
    table = [ScreenedMethod(**row) for row in content]
    for row in table:
        check_real_number(f"the weight of {row.name}", row.weight, minimum=0)
        for name, value in row.metrics.items():
            if value is not None:
                check_real_number(f"{name} of {row.name}", value)
    return table
