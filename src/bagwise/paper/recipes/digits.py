"""MNIST-bags: the AUC on 1,000 test bags by mean size and number of training bags.

The validation set that the paper chose its epoch by is not described: 20 epochs, after which the loss is near zero,
agree with it within noise. MI-SVM has the kernel and the C of the appendix; of the most digits, whose kernel does not
fit into memory (30,000 and more), the kernel is approximate.
"""

from typing import Any

from bagwise.comparing.plan import Plan, make_plan
from bagwise.estimators import BagClassifier
from bagwise.estimators.methods import METHODS
from bagwise.paper.published import published
from bagwise.paper.recipes.contract import Setting

EPOCHS, EPOCHS_AUGMENTED = 20, 80  # images that are never the same twice bear more epochs
MEAN_SIZES = (10, 50, 100)
TRAINING_BAGS = (50, 100, 150, 200, 300, 400, 500)
MOST_DIGITS, COMPONENTS = 25_000, 500  # of an exact kernel; of an approximate one


def mnist_bags(repeats: int, quick: bool) -> list[Setting]:
    """Every mean size and number of training bags; each repeat draws new training and new test bags."""
    sizes, counts = ((10,), (50,)) if quick else (MEAN_SIZES, TRAINING_BAGS)
    return [
        Setting(
            f"size-{size}-bags-{count}",
            f"mnist-bags-{size}",
            str(count),
            [_digits(size, count, draw, quick) for draw in range(repeats)],
        )
        for size in sizes
        for count in counts
    ]


def network(quick: bool) -> dict[str, Any]:
    """The parameters of the networks."""
    return {"encoder": "lenet", "learning_rate": 5e-4, "weight_decay": 1e-4, "epochs": 2 if quick else EPOCHS}


def _digits(size: int, count: int, draw: int, quick: bool) -> Plan:
    shared = network(quick)
    machine: dict[str, Any] = {"C": 5.0, "gamma": 0.0005, "max_iterations": 200, "calibration": 0}
    if size * count > MOST_DIGITS:
        machine["components"] = COMPONENTS
    methods = dict.fromkeys(method for method, _ in published("mnist-bags-10"))
    parameters: dict[str, dict[str, Any]] = {
        method: shared if METHODS[method].kind is BagClassifier else machine for method in methods
    }
    parameters["bagwise"] = {**shared, "epochs": 2 if quick else EPOCHS_AUGMENTED}
    options = {"mean_size": size, "n_bags": count, "n_test_bags": 100 if quick else 1000, "seed": draw}
    return make_plan("mnist-bags", parameters, options=options, seed=draw)
