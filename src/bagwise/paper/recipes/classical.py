"""Table 1: the five classical sets, every method of the table and some baselines, over ten stratified folds.

The networks have the optimiser of the appendix and end with the last of 100 epochs, because a validation fold of so few
bags costs more than it gives. The classical methods have their defaults; those with a kernel choose within the training
bags whether features are standardised, and the support vector machines of instances their C. Three rows are ours:
in ``super learner`` nine of these methods vote, heard by how they judge training bags held out; in ``committee`` four
with equal voices, chosen on other sets (experiments/committee/notes.md); ``bagwise`` is the preset.
"""

from typing import Any

from bagwise.comparing.plan import Plan, make_plan
from bagwise.estimators import BagClassifier
from bagwise.estimators.methods import METHODS
from bagwise.paper.published import published
from bagwise.paper.recipes.contract import Setting

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
HOLDING = ("super learner", "committee")  # other methods, each at its full length
OURS = (*HOLDING, "bagwise")
BASELINES = ("minimax kernel", "instance+mean", "embedding+mean", "extra trees", "naive")


def table1(repeats: int, quick: bool) -> list[Setting]:
    """Every method on the five sets, over ten stratified folds.

    quick : two sets, three folds, ten epochs, and none of the methods that hold others
    """
    sets = ("musk1", "fox") if quick else tuple(CLASSIC)
    return [Setting(name, "table1", name, [_classical(name, 3 if quick else 10, repeats, quick)]) for name in sets]


def network(name: str, quick: bool) -> dict[str, Any]:
    """The parameters of the networks on a set."""
    rate, decay = CLASSIC[name]
    return {
        "optimizer": "sgd",
        "momentum": 0.9,
        "learning_rate": rate,
        "weight_decay": decay,
        "epochs": 10 if quick else 100,
        "attention_width": 64,
        "dropout": 0.5,
    }


def _classical(name: str, folds: int, repeats: int, quick: bool) -> Plan:
    shared = network(name, quick)
    methods = dict.fromkeys([*(method for method, _ in published("table1")), *OURS, *BASELINES])
    chosen = [method for method in methods if not (quick and method in HOLDING)]
    parameters = {method: shared if METHODS[method].kind is BagClassifier else {} for method in chosen}
    return make_plan(name, parameters, selection=SELECTION, folds=folds, repeats=repeats, seed=1)
