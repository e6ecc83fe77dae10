"""Colon cancer and breast cancer: five metrics over a repeat's out-of-fold predictions together, mean over repeats.

The networks have the layers, the optimiser and the 100 epochs of the appendix. Two things are ours, because whole bags
with an early stop by validation take days on a processor, and the paper's validation set is not described: a step sees
at most 100 patches of a bag; the weights of the last half of the epochs are averaged.

MI-SVM, which the authors could not run on these bags, is the seventh row: patches as they are, an approximate kernel,
C and γ chosen within the training bags. The eighth is ours: three networks with gated attention that vote.

The 58 images of breast cancer come from 10 cases. The paper's folds put images of a case on both sides; the honest
folds keep a case together, and stand beside.
"""

from typing import Any

from bagwise.comparing.plan import Plan, make_plan
from bagwise.estimators.presets import PRESETS
from bagwise.paper.published import published
from bagwise.paper.recipes.contract import Setting

NETWORK: dict[str, Any] = {
    "encoder": "nucleus cnn",
    "learning_rate": 1e-4,
    "weight_decay": 5e-4,
    "augmentation": "histology",
    "most_instances": 100,
    "averaging": 0.5,
    "epochs": 100,
}
MACHINE = {"components": 500, "class_weight": "balanced", "calibration": 0}
SELECTION = {"MI-SVM": {"C": [1.0, 10.0], "gamma": [1e-4, 5e-4]}}  # γ around one over the number of pixels


def colon(repeats: int, quick: bool) -> list[Setting]:
    """Ten folds of 100 images; quick: two folds, two epochs, three methods."""
    return [Setting("images", "colon", None, [_plan("colon-cancer", repeats, quick, grouped=True)])]


def breast(repeats: int, quick: bool) -> list[Setting]:
    """Ten folds of 58 images, as in the paper; and of their 10 cases."""
    return [
        Setting("images", "breast", None, [_plan("breast-cancer", repeats, quick, grouped=False)]),
        Setting(
            "cases",
            "breast",
            None,
            [_plan("breast-cancer", repeats, quick, grouped=True)],
            title="folds that keep the images of a case together",
            comparable=False,
        ),
    ]


def network(quick: bool) -> dict[str, Any]:
    """The parameters of the networks on both sets."""
    return {**NETWORK, "epochs": 2, "most_instances": 20} if quick else NETWORK


def _plan(data: str, repeats: int, quick: bool, grouped: bool) -> Plan:
    shared = network(quick)
    names = list(dict.fromkeys(method for method, _ in published("colon")))
    methods: dict[str, dict[str, Any]] = dict.fromkeys(names, shared)
    selection = {}
    if not quick:
        ensemble = {f"estimator__{name}": value for name, value in shared.items() if name not in PRESETS["bagwise"]}
        methods, selection = {**methods, "MI-SVM": MACHINE, "bagwise ensemble": ensemble}, SELECTION
    folds = 2 if quick else 10
    return make_plan(data, methods, selection=selection, folds=folds, repeats=repeats, grouped=grouped, seed=1)
