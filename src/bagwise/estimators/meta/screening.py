"""Screening of methods: which ones are tried, how long they are expected to take, and what held-out bags show of them.

The duration of the fit of a method, with everything that it holds out, is estimated from the sizes of the data alone:

    seconds ≈ a + b · work        work: multiplications, roughly, in millions

so that a budget selects the same methods on every machine. The constants were measured once, on one core, and are
rounded up. The estimate is not a limit: nothing is stopped.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bagwise.arguments import check_real_number, describe_value
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.methods import SINGLE_METHODS, resolve_name
from bagwise.targets import Metrics

# one method per idea: a network, trees, kernels between boxes, sets and graphs, vectors, witnesses, instances
DEFAULT_SCREEN = (
    "gated attention",
    "extra trees",
    "minimax kernel",
    "mi-Graph",
    "miFV",
    "miVLAD",
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
    metrics : dict of str to float or None
        Metrics of the held-out training bags.
    """

    name: str
    weight: float
    metrics: Metrics


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
    names = [resolve_name(name, SINGLE_METHODS) for name in screen]
    if repeated := [name for position, name in enumerate(names) if name in names[:position]]:
        raise InputError(f"screen has {repeated[0]} more than once; remove the repetition")
    return {name: SINGLE_METHODS[name].build() for name in names}


def restore_screening(content: Any) -> list[ScreenedMethod]:
    """Return the saved table of a screening; reject invalid content, because the file may be forged."""
    table = [ScreenedMethod(**row) for row in content]
    for row in table:
        check_real_number(f"the weight of {row.name}", row.weight, minimum=0)
        for name, value in row.metrics.items():
            if value is not None:
                check_real_number(f"{name} of {row.name}", value)
    return table


def select_within_budget(library, bags, budget, folds):
    return library
