"""The recipe of each experiment: which data, which methods with which parameters, which protocol.

Where the paper leaves a choice open, the honest one is the default: features are scaled by training bags alone, no
test bag has a say in any choice, and a number of epochs that was fixed beforehand replaces a validation set that the
paper does not describe.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from bagwise.comparing.plan import Plan, make_plan
from bagwise.estimators import BagClassifier
from bagwise.estimators.methods import METHODS
from bagwise.paper.published import published

CLASSIC = {  # learning rate and weight decay of the appendix
    "musk1": (5e-4, 0.005),
    "musk2": (5e-4, 0.03),
    "fox": (5e-4, 0.005),
    "tiger": (1e-4, 0.01),
    "elephant": (1e-4, 0.005),
}
SCALINGS: dict[str, list[Any]] = {"standardize": [True, False]}
SELECTION = {  # within the training folds, by three folds of theirs
    **{method: {"C": [1.0, 10.0], **SCALINGS} for method in ("mi-SVM", "MI-SVM")},
    **dict.fromkeys(("MI-Kernel", "mi-Graph", "minimax kernel"), SCALINGS),
}
BASELINES = ("minimax kernel", "instance+mean", "embedding+mean", "extra trees", "naive")
MEAN_SIZES = (10, 50, 100)
TRAINING_BAGS = (50, 100, 150, 200, 300, 400, 500)


class Setting(NamedTuple):
    """One column of a table, or one table whose columns are metrics."""

    name: str  # of its folder
    table: str  # of the paper
    column: str | None  # None where the columns are metrics
    plans: list[Plan]  # one, or one for each draw of the training bags


class Recipe(NamedTuple):
    """An experiment of the paper."""

    title: str
    metric: str  # of the columns that are data
    pooled: bool  # whether a metric is taken over a repeat's predictions together, or is the mean over folds
    settings: Callable[[int, bool], list[Setting]]  # (repeats, quick)


def table1(repeats: int, quick: bool) -> list[Setting]:
    """Every method on the five sets, over ten stratified folds; quick: two sets, three folds, ten epochs."""
    sets = ("musk1", "fox") if quick else tuple(CLASSIC)
    return [
        Setting(name, "table1", name, [_classical(name, 3 if quick else 10, repeats, 10 if quick else 100)])
        for name in sets
    ]


def _classical(name: str, folds: int, repeats: int, epochs: int) -> Plan:
    rate, decay = CLASSIC[name]
    network = {
        "optimizer": "sgd",
        "momentum": 0.9,
        "learning_rate": rate,
        "weight_decay": decay,
        "epochs": epochs,
        "attention_width": 64,
        "dropout": 0.5,
    }
    methods = dict.fromkeys([*(method for method, _ in published("table1")), *BASELINES])
    parameters = {method: network if METHODS[method].kind is BagClassifier else {} for method in methods}
    return make_plan(name, parameters, selection=SELECTION, folds=folds, repeats=repeats, seed=1)


def mnist_bags(repeats: int, quick: bool) -> list[Setting]:
    """Every mean size and number of training bags; each repeat draws new training bags, the test bags stay."""
    sizes, counts = ((10,), (50,)) if quick else (MEAN_SIZES, TRAINING_BAGS)
    return [
        Setting(
            f"size-{size}-bags-{count}",
            f"mnist-bags-{size}",
            str(count),
            [_digits(size, count, draw, 100 if quick else 1000, 2 if quick else 20) for draw in range(repeats)],
        )
        for size in sizes
        for count in counts
    ]


def _digits(size: int, count: int, draw: int, n_test_bags: int, epochs: int) -> Plan:
    network = {"encoder": "lenet", "learning_rate": 5e-4, "weight_decay": 1e-4, "epochs": epochs}
    machine = {"C": 5.0, "gamma": 0.0005, "max_iterations": 200, "calibration": 0}
    methods = dict.fromkeys(method for method, _ in published("mnist-bags-10"))
    parameters: dict[str, dict[str, Any]] = {
        method: network if METHODS[method].kind is BagClassifier else machine for method in methods
    }
    options = {"mean_size": size, "n_bags": count, "n_test_bags": n_test_bags, "seed": draw}
    return make_plan("mnist-bags", parameters, options=options, seed=draw)


RECIPES = {
    "table1": Recipe("Classical data sets (Table 1)", "accuracy", False, table1),
    "mnist-bags": Recipe("MNIST-bags (three tables of the appendix)", "auc", False, mnist_bags),
}
