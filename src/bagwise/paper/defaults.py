"""The experiment on the defaults of ``BagClassifier``: before and after, next to other methods and the majority.

Defaults are chosen on the development sets. The confirmation sets, those of Table 1, are looked at once, after all
choices; so they are run on request only.
"""

from typing import Any

from bagwise.estimators import DEFAULT_SCREEN, get_preset
from bagwise.evaluation.comparison import make_plan
from bagwise.paper.experiments import Parameters, Recipe, Setting
from bagwise.paper.floors import Bound, Floor, Means
from bagwise.paper.results import EXCESS, SECONDS

Draws = dict[str, list[dict[str, Any]]]  # options of each data set, for each draw of its bags

OLD, NEW, MAJORITY = "old default", "new default", "majority"
NETWORK = "gated attention"  # the method whose parameters are those of BagClassifier()
OTHER_METHODS = ("auto", *(method for method in DEFAULT_SCREEN if method != NETWORK), MAJORITY)
COLUMNS = ("accuracy", "balanced_accuracy", "auc", "log_loss", EXCESS, SECONDS)
INFORMATIVE_AUC, LARGE = 0.7, 200  # above them, further floors apply
LEGEND = (
    "Each cell shows the mean ± its standard error over folds, averaged over repeats or draws of the bags. "
    "(incomplete): some folds have not been run. The excess calibration error is the expected calibration error of the "
    "predictions of all folds together, minus the one that a perfectly calibrated model with the same probabilities "
    "has by chance. seconds: time of one fit. The floors concern the development sets of 40 to 600 bags."
)
DEVELOPMENT: Draws = {
    **{name: [{}] for name in ("ucsb-breast", "mutagenesis-1", "newsgroups-1", "newsgroups-2")},
    "wide": [{"seed": draw} for draw in range(5)],  # one draw of 50 bags is too few to compare two AUCs
    "protein": [{}],
    "mnist-bags": [{"n_bags": 100}],  # the folds divide training bags, which contain training images only
    **{name: [{}] for name in ("brown-creeper", "corel-beach")},
}
CONFIRMATION: Draws = {name: [{}] for name in ("musk1", "musk2", "fox", "tiger", "elephant")}


def make_default_settings(repeats: int, quick: bool) -> list[Setting]:
    """Make two settings per data set, five stratified folds each: the old default, and all other rows.

    Both divide the bags into the same folds. The old default is the preset "paper" with 100 epochs: one network of all
    training bags, without clipping and calibration. The quick version has one draw of the bags, two folds, and networks
    of three epochs, except in "auto".
    """
    epochs: Parameters = {"epochs": 3} if quick else {}
    old = {NETWORK: {**get_preset("paper"), "epochs": 100, **epochs}}
    new = {NETWORK: epochs, **{method: {} for method in OTHER_METHODS}}
    return [
        Setting(
            name=f"{name}{suffix}",
            table=name,
            column=None,
            plans=[
                make_plan(name, methods, options=options, folds=2 if quick else 5, repeats=repeats, seed=1)
                for options in (draws[:1] if quick else draws)
            ],
            comparable=False,
            metrics=COLUMNS,
            rows={NETWORK: row},
            on_request=name in CONFIRMATION,
        )
        for name, draws in {**DEVELOPMENT, **CONFIRMATION}.items()
        for suffix, row, methods in (("-old-default", OLD, old), ("", NEW, new))
    ]


def measure_regret(means: Means) -> float:
    """Return how much the AUC of "auto" is below that of the best row: the methods it screens, and the old default."""
    return max(value for (_, column), value in means.items() if column == "auc") - means["auto", "auc"]


FLOORS = (
    Floor(
        title="log loss − majority's",
        measure=lambda means: means[NEW, "log_loss"] - means[MAJORITY, "log_loss"],
        bound=Bound(0.05),
    ),
    Floor(
        title=f"log loss − majority's, if AUC > {INFORMATIVE_AUC}",
        measure=lambda means: means[NEW, "log_loss"] - means[MAJORITY, "log_loss"],
        bound=Bound(0.0, strict=True),
        applies=lambda means, n_bags: means[NEW, "auc"] > INFORMATIVE_AUC,
    ),
    Floor(
        title="AUC of the old default − AUC",
        measure=lambda means: means[OLD, "auc"] - means[NEW, "auc"],
        bound=Bound(0.01),
        mean_bound=Bound(0.0, strict=True),
    ),
    Floor(title="excess calibration error", measure=lambda means: means[NEW, EXCESS], bound=Bound(0.05)),
    Floor(
        title=f"time / old default's, above {LARGE} bags",
        measure=lambda means: means[NEW, SECONDS] / means[OLD, SECONDS],
        bound=Bound(2.0),
        applies=lambda means, n_bags: n_bags > LARGE,
    ),
    Floor(
        title="AUC regret of auto",
        measure=measure_regret,
        bound=Bound(0.05),
        mean_bound=Bound(0.02),
    ),
)

DEFAULTS = Recipe(
    title="Defaults of BagClassifier",
    metric="auc",
    pooled=False,
    settings=make_default_settings,
    repeats=1,
    legend=LEGEND,
    floors=FLOORS,
)
