"""The recipe of each experiment: data, methods with their parameters, and protocol.

Where the paper does not specify a choice, the default avoids optimistic results: features are scaled by training bags
only, test bags do not influence any choice, and the number of epochs is fixed beforehand, because the paper does not
describe its validation set.
"""

from collections.abc import Callable, Sequence
from typing import Any

from bagwise.estimators import METHODS, BagClassifier, get_preset, list_parameters
from bagwise.evaluation.comparison import ComparisonPlan, make_plan
from bagwise.paper.defaults import DEFAULTS
from bagwise.paper.experiments import Parameters, Recipe, Setting
from bagwise.paper.published import read_published


def make_method_parameters(method: str, network: Parameters) -> Parameters:
    """Return the parameters of a method in the paper's experiments.

    Parameters
    ----------
    method : str
        Name of the method.
    network : dict
        Parameters of networks; other methods do not use them.

    Returns
    -------
    dict
        For networks, the preset "paper" and the given parameters; for other methods, scaling without clipping, and
        decisions by their own scores. Parameters that the method fixes or does not have are left out.
    """
    is_network = any(
        kind is BagClassifier for kind in (METHODS[method].kind, type(METHODS[method].parameters.get("estimator")))
    )
    wanted = {**get_preset("paper"), **network} if is_network else {"scaling": "standard", "calibration": False}
    free = list_parameters(method)
    named = {
        next((key for key in (name, f"estimator__{name}") if key in free), ""): value for name, value in wanted.items()
    }
    return {name: value for name, value in named.items() if name}


# Table 1: classical data sets

TABLE1_RATES = {  # learning rate and weight decay, from the appendix
    "musk1": (5e-4, 0.005),
    "musk2": (5e-4, 0.03),
    "fox": (5e-4, 0.005),
    "tiger": (1e-4, 0.01),
    "elephant": (1e-4, 0.005),
}
SCALINGS: dict[str, list[Any]] = {"scaling": ["standard", "none"]}
TABLE1_SELECTION = {  # selected by cross-validation with three folds within the training bags
    **{method: {"C": [1.0, 10.0], **SCALINGS} for method in ("mi-SVM", "MI-SVM")},
    **dict.fromkeys(("MI-Kernel", "mi-Graph", "minimax kernel"), SCALINGS),
}
META_METHODS = ("super learner", "committee")  # they fit other methods, always with all their epochs
OWN_METHODS = (*META_METHODS, "bagwise")
BASELINES = ("minimax kernel", "instance+mean", "embedding+mean", "extra trees", "naive")


def make_table1_settings(repeats: int, quick: bool) -> list[Setting]:
    """Make the settings of Table 1: five classical data sets, ten stratified folds, its methods and some baselines.

    The networks use the optimizer of the appendix and stop after 100 epochs: with so few bags, holding out a validation
    set costs more accuracy than it gains. The classical methods use their defaults. Those with a kernel select within
    the training bags whether to standardise features; mi-SVM and MI-SVM also select C. Three rows are not in the paper:
    ``super learner`` weights nine of these methods by their predictions for held-out training bags, ``committee``
    averages four with equal weights, selected on other data sets (experiments/committee/notes.md), and ``bagwise`` is
    the preset.

    The quick version has two data sets, three folds, ten epochs, and no meta-estimators.
    """
    names = ("musk1", "fox") if quick else tuple(TABLE1_RATES)
    return [
        Setting(name=name, table="table1", column=name, plans=[_plan_table1(name, 3 if quick else 10, repeats, quick)])
        for name in names
    ]


def make_table1_network(name: str, quick: bool) -> Parameters:
    """Return the parameters of the networks on a classical data set.

    Parameters
    ----------
    name : {"musk1", "musk2", "fox", "tiger", "elephant"}
        Name of the data set.
    quick : bool
        Whether to train for ten epochs instead of 100.

    Returns
    -------
    dict
        Parameters of ``BagClassifier``.
    """
    learning_rate, weight_decay = TABLE1_RATES[name]
    return {
        "optimizer": "sgd",
        "momentum": 0.9,
        "learning_rate": learning_rate,
        "weight_decay": weight_decay,
        "epochs": 10 if quick else 100,
        "attention_width": 64,
        "dropout": 0.5,
    }


def _plan_table1(name: str, folds: int, repeats: int, quick: bool) -> ComparisonPlan:
    network = make_table1_network(name, quick)
    methods = dict.fromkeys([*_list_published_methods("table1"), *OWN_METHODS, *BASELINES])
    selected = [method for method in methods if not (quick and method in META_METHODS)]
    parameters = {method: make_method_parameters(method, network) for method in selected}
    return make_plan(name, parameters, selection=TABLE1_SELECTION, folds=folds, repeats=repeats, seed=1)


def _list_published_methods(table: str) -> list[str]:
    return list(dict.fromkeys(method for method, _ in read_published(table)))


# MNIST-bags

EPOCHS, EPOCHS_AUGMENTED = 20, 80  # augmented images differ in every epoch, which allows more epochs
MEAN_SIZES = (10, 50, 100)
TRAINING_BAGS = (50, 100, 150, 200, 300, 400, 500)
MAX_EXACT_DIGITS, N_COMPONENTS = 25_000, 500  # limit of the exact kernel; size of the approximate one


def make_mnist_settings(repeats: int, quick: bool) -> list[Setting]:
    """Make the settings of MNIST-bags: the AUC on 1,000 test bags by mean size and number of training bags.

    Each repeat samples new training and test bags. The paper does not describe the validation set by which it chose the
    epoch. With 20 epochs, after which the loss is near zero, results agree with the paper's within noise. MI-SVM has
    the kernel and the C of the appendix. If the kernel of all digits does not fit into memory (30,000 digits and more),
    it is approximated.
    """
    sizes, counts = ((10,), (50,)) if quick else (MEAN_SIZES, TRAINING_BAGS)
    return [
        Setting(
            name=f"size-{size}-bags-{count}",
            table=f"mnist-bags-{size}",
            column=str(count),
            plans=[_plan_digits(size, count, draw, quick) for draw in range(repeats)],
        )
        for size in sizes
        for count in counts
    ]


def make_digits_network(quick: bool) -> Parameters:
    """Return the parameters of the networks on MNIST-bags."""
    return {"encoder": "lenet", "learning_rate": 5e-4, "weight_decay": 1e-4, "epochs": 2 if quick else EPOCHS}


def _plan_digits(size: int, count: int, draw: int, quick: bool) -> ComparisonPlan:
    network = make_digits_network(quick)
    svm: Parameters = {"C": 5.0, "gamma": 0.0005, "max_iterations": 200}
    if size * count > MAX_EXACT_DIGITS:
        svm["components"] = N_COMPONENTS
    parameters: dict[str, Parameters] = {
        method: make_method_parameters(method, network) for method in _list_published_methods("mnist-bags-10")
    }
    parameters["MI-SVM"] |= svm
    augmented = {**network, "epochs": 2 if quick else EPOCHS_AUGMENTED}
    parameters["bagwise"] = make_method_parameters("bagwise", augmented)
    options = {"mean_size": size, "n_bags": count, "n_test_bags": 100 if quick else 1000, "seed": draw}
    return make_plan("mnist-bags", parameters, options=options, seed=draw)


# Colon cancer and breast cancer

TISSUE_NETWORK: Parameters = {
    "encoder": "nucleus cnn",
    "learning_rate": 1e-4,
    "weight_decay": 5e-4,
    "augmentation": "histology",
    "most_instances": 100,
    "averaging": 0.5,
    "epochs": 100,
}
TISSUE_SVM: Parameters = {"components": 500, "class_weight": "balanced"}
TISSUE_SELECTION = {"MI-SVM": {"C": [1.0, 10.0], "gamma": [1e-4, 5e-4]}}  # γ around 1 / number of pixels


def make_colon_settings(repeats: int, quick: bool) -> list[Setting]:
    """Make the settings of colon cancer: metrics of the pooled out-of-fold predictions, averaged over repeats.

    There are five metrics, and ten folds of 100 images. The quick version has two folds and two epochs, and only the
    methods of the paper.

    The networks have the layers, the optimizer and the 100 epochs of the appendix. They differ from the paper in two
    points, because training on whole bags with early stopping takes days on a CPU, and because the paper does not
    describe its validation set: a step uses at most 100 patches of a bag, and the parameters of the last half of the
    epochs are averaged.

    Two rows are not in the paper. MI-SVM, which the authors could not run on these bags, uses raw patches, an
    approximate kernel, and C and γ selected within the training bags. ``bagwise ensemble`` averages three networks with
    gated attention.
    """
    plan = _plan_tissue("colon-cancer", repeats, quick, grouped=True)
    return [Setting(name="images", table="colon", column=None, plans=[plan])]


def make_breast_settings(repeats: int, quick: bool) -> list[Setting]:
    """Make the settings of breast cancer: as for colon cancer, with ten folds of 58 images, and with folds of 10 cases.

    The paper's folds divide the images of a case between training and test bags. Folds that keep the images of a case
    together avoid this leakage; their results are in a separate table.
    """
    by_image = _plan_tissue("breast-cancer", repeats, quick, grouped=False)
    by_case = _plan_tissue("breast-cancer", repeats, quick, grouped=True)
    return [
        Setting(name="images", table="breast", column=None, plans=[by_image]),
        Setting(
            name="cases",
            table="breast",
            column=None,
            plans=[by_case],
            title="folds that keep the images of a case together",
            comparable=False,
        ),
    ]


def make_tissue_network(quick: bool) -> Parameters:
    """Return the parameters of the networks on colon and breast cancer."""
    return {**TISSUE_NETWORK, "epochs": 2, "most_instances": 20} if quick else TISSUE_NETWORK


def _plan_tissue(data: str, repeats: int, quick: bool, grouped: bool) -> ComparisonPlan:
    network = make_tissue_network(quick)
    names = [*_list_published_methods("colon"), *([] if quick else ["MI-SVM", "bagwise ensemble"])]
    methods = {method: make_method_parameters(method, network) for method in names}
    selection = {} if quick else TISSUE_SELECTION
    if not quick:
        methods["MI-SVM"] |= TISSUE_SVM
    folds = 2 if quick else 10
    return make_plan(data, methods, selection=selection, folds=folds, repeats=repeats, grouped=grouped, seed=1)


# Claims of the text

WIDTHS = (64, 128, 256)
CLAIM_METHODS = ("attention", "gated attention", "embedding+mean")


def make_claim_settings(repeats: int, quick: bool) -> list[Setting]:
    """Make the settings for two claims of the text about attention.

    The claims are that the number L of hidden units of the attention matters little, and that attention is not the mean
    operator. The tables have the AUC and the evenness of the weights (entropy / log K, which is 1 for the mean
    operator) by L: on 200 bags of digits, sampled anew for each repeat, and on Musk1 over ten folds. The quick version
    has one width. A third claim, that Instance+max finds few of the key instances, is tested in the tables of colon
    cancer.
    """
    widths = WIDTHS[:1] if quick else WIDTHS
    return [
        *_make_width_settings(
            "MNIST-bags", widths, lambda width: [_plan_digits_width(width, draw, quick) for draw in range(repeats)]
        ),
        *_make_width_settings("Musk1", widths, lambda width: [_plan_musk1_width(width, repeats, quick)]),
    ]


def _make_width_settings(
    name: str, widths: Sequence[int], make_plans: Callable[[int], list[ComparisonPlan]]
) -> list[Setting]:
    return [
        Setting(
            name=f"{name.lower()}-width-{width}",
            table=f"attention of L hidden units, {name}",
            column=str(width),
            plans=make_plans(width),
            comparable=False,
        )
        for width in widths
    ]


def _plan_digits_width(width: int, draw: int, quick: bool) -> ComparisonPlan:
    network = {**make_digits_network(quick), "attention_width": width}
    methods = {method: make_method_parameters(method, network) for method in CLAIM_METHODS}
    options = {"mean_size": 10, "n_bags": 20 if quick else 200, "n_test_bags": 100 if quick else 1000, "seed": draw}
    return make_plan("mnist-bags", methods, options=options, seed=draw)


def _plan_musk1_width(width: int, repeats: int, quick: bool) -> ComparisonPlan:
    network = {**make_table1_network("musk1", quick), "attention_width": width}
    methods = {method: make_method_parameters(method, network) for method in CLAIM_METHODS}
    return make_plan("musk1", methods, folds=3 if quick else 10, repeats=repeats, seed=1)


RECIPES = {
    "table1": Recipe(
        title="Classical data sets (Table 1)", metric="accuracy", pooled=False, settings=make_table1_settings
    ),
    "mnist-bags": Recipe(
        title="MNIST-bags (three tables of the appendix)", metric="auc", pooled=False, settings=make_mnist_settings
    ),
    "breast": Recipe(title="Breast cancer", metric="accuracy", pooled=True, settings=make_breast_settings),
    "colon": Recipe(title="Colon cancer", metric="accuracy", pooled=True, settings=make_colon_settings),
    "claims": Recipe(
        title="Claims of the text",
        metric="auc",
        pooled=False,
        settings=make_claim_settings,
        x_label="hidden units of the attention",
    ),
    "defaults": DEFAULTS,
}
