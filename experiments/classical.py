"""The classical data sets: every row of Table 1 of the paper, and the baselines, over stratified ten-fold folds.

    python experiments/classical.py FOLDER [--repeats 1] [--workers 2] [--sets musk1,fox] [--family networks]

Units are written to FOLDER one by one, so the script can be cut and run again. Parameters are fixed beforehand: the
networks have the optimiser of the paper's appendix (SGD, momentum 0.9, 100 epochs, the last one kept, because a
validation fold of so few bags costs more than it gives), dropout 0.5, L = 64; the classical methods have their
defaults, except that those with a kernel choose, by three folds of the training bags, whether features are standardised
(and the support vector machines of instances their C). The table is written to experiments/classical.md.
"""

import argparse
import csv
from itertools import product
from pathlib import Path

from bagwise.comparing import Comparison, compare
from bagwise.comparing.plan import make_plan
from bagwise.estimators import BagClassifier
from bagwise.estimators.methods import METHODS

HERE = Path(__file__).parent
FAMILIES = ("classical", "networks")
OPTIMISERS = {  # learning rate and weight decay of the appendix
    "musk1": (5e-4, 0.005),
    "musk2": (5e-4, 0.03),
    "fox": (5e-4, 0.005),
    "tiger": (1e-4, 0.01),
    "elephant": (1e-4, 0.005),
}
SCALINGS = {"standardize": [True, False]}
SELECTION = {
    **{method: {"C": [1.0, 10.0], **SCALINGS} for method in ("mi-SVM", "MI-SVM")},
    **dict.fromkeys(("MI-Kernel", "mi-Graph", "minimax kernel"), SCALINGS),
}
BASELINES = ("minimax kernel", "instance+mean", "embedding+mean", "extra trees", "naive")
NETWORK = {"optimizer": "sgd", "momentum": 0.9, "epochs": 100, "attention_width": 64, "dropout": 0.5}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--sets", default=",".join(OPTIMISERS))
    parser.add_argument("--family", choices=FAMILIES, action="append", help="by default both")
    parser.add_argument("--table-only", action="store_true", help="write the table of what was done so far")
    given = parser.parse_args()
    for family, name in () if given.table_only else product(given.family or FAMILIES, given.sets.split(",")):
        chosen = methods(name, family)
        selection = {method: grid for method, grid in SELECTION.items() if method in chosen}
        plan = make_plan(name, chosen, selection=selection, folds=10, repeats=given.repeats, seed=1)
        print(family, name, flush=True)
        compare(given.folder / family / name, plan, workers=given.workers)
    (HERE / "classical.md").write_text(table(given.folder), encoding="utf-8")


def methods(name: str, family: str) -> dict[str, dict[str, object]]:
    """The parameters of every method of a family on a data set."""
    rate, decay = OPTIMISERS[name]
    network = {**NETWORK, "learning_rate": rate, "weight_decay": decay}
    networks = family == "networks"
    return {method: network if networks else {} for method in _all_methods() if _is_network(method) == networks}


def _all_methods() -> tuple[str, ...]:
    return (*published(), *BASELINES)


def _is_network(method: str) -> bool:
    return METHODS[method].kind is BagClassifier


def published() -> dict[str, dict[str, str]]:
    """The rows of the paper's Table 1, by method."""
    with (HERE / "table1.csv").open(encoding="utf-8") as stream:
        return {row.pop("method"): row for row in csv.DictReader(stream)}


def table(folder: Path) -> str:
    """Accuracy ± standard error over folds, beside the paper's numbers."""
    rows = published()
    lines = [
        "# Classical data sets",
        "",
        (HERE / "classical_notes.md").read_text(encoding="utf-8"),
        _repeats(folder),
        "",
        f"| method | {' | '.join(f'{name} | paper' for name in OPTIMISERS)} |",
        f"| --- |{' ---: | ---: |' * len(OPTIMISERS)}",
    ]
    for method in _all_methods():
        cells = [f"{_measured(folder, name, method)} | {rows.get(method, {}).get(name, '')}" for name in OPTIMISERS]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _repeats(folder: Path) -> str:
    """How often the folds were drawn, for each family and data set."""
    lines = []
    for family in FAMILIES:
        plans = {name: folder / family / name for name in OPTIMISERS if (folder / family / name).exists()}
        found = [f"{name} {Comparison(place).plan['repeats']}" for name, place in plans.items()]
        lines.append(f"Repeats, {family}: {', '.join(found) or 'none'}.")
    return "\n".join(lines)


def _measured(folder: Path, name: str, method: str) -> str:
    place = folder / FAMILIES[_is_network(method)] / name
    comparison = Comparison(place) if place.exists() else None
    if comparison is None or method not in comparison.units:
        return "not run"
    errors = comparison.scores[method]["accuracy"].errors
    planned = comparison.plan["folds"] * comparison.plan["repeats"]
    done = len(comparison.units[method])
    return f"{errors.mean:.3f}±{errors.fold_standard_error or 0:.3f}" + ("" if done == planned else f" ({done} folds)")


if __name__ == "__main__":
    main()
