"""Select the members of ``Committee`` on three data sets that are not part of Table 1.

    python experiments/committee/choose.py FOLDER     resumes if interrupted; writes candidates.csv beside this file

The rule was fixed before any result was known:

members     All methods in the recipe of Table 1 that support several classes, with the parameters of that recipe; of
            the networks, only the two of the paper, with the most frequent learning rate and weight decay of the
            appendix.
candidates  All committees of three, four or five members, which predict the mean of the members' probabilities.
criterion   Mean error + mean loss over held-out bags, as in ``Selected`` and in the paper's choice of the epoch:
            the mean over the repeats of five folds, then over the data sets, all with the same weight.
selected    The committee with the lowest criterion; in case of ties, the one with fewer members.
"""

import csv
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.evaluation.comparison import compare_methods, make_plan
from bagwise.io import write_atomically
from bagwise.paper import TABLE1_SELECTION, make_table1_network
from bagwise.targets import clip_log

REPEATS = {"ucsb-breast": 2, "newsgroups-1": 2, "brown-creeper": 1}  # more repeats for data sets with few bags
CLASSICAL = ("extra trees", "naive", "MI-Kernel", "minimax kernel", "mi-Graph", "miVLAD", "miFV")
NETWORKS = ("attention", "gated attention")
SIZES = (3, 4, 5)

Held = list[tuple[np.ndarray, np.ndarray]]  # per split: targets, and (n_members, n_bags, n_classes) probabilities


def held_out(folder: Path, data: str) -> Held:
    """Return the predictions of every member for the held-out bags of a data set."""
    members: dict[str, dict[str, Any]] = {
        **{name: {} for name in CLASSICAL},
        **dict.fromkeys(NETWORKS, make_table1_network("musk1", quick=False)),
    }
    selection = {name: grid for name, grid in TABLE1_SELECTION.items() if name in members}
    plan = make_plan(data, members, selection=selection, folds=5, repeats=REPEATS[data], seed=1)
    units = compare_methods(folder / data, plan).units
    splits = zip(*(units[name] for name in members), strict=True)
    return [
        (
            np.array(split[0]["predictions"]["bags"]["targets"]),
            np.array([unit["predictions"]["bags"]["probabilities"] for unit in split]),
        )
        for split in splits
    ]


def evaluate_committee(held: Held, chosen: tuple[int, ...]) -> tuple[float, float]:
    """Return the accuracy and the log loss of a committee over the bags of a data set."""
    rights, losses = [], []
    for targets, probabilities in held:
        mean = probabilities[list(chosen)].mean(axis=0)
        rights.append(mean.argmax(axis=1) == targets)
        losses.append(-clip_log(mean).numpy()[np.arange(len(targets)), targets])
    return float(np.concatenate(rights).mean()), float(np.concatenate(losses).mean())


def row(sets: dict[str, Held], chosen: tuple[int, ...]) -> dict[str, Any]:
    """Return a row of the table: a committee, its criterion, and the metrics it is computed from."""
    names = [*CLASSICAL, *NETWORKS]
    found = {data: evaluate_committee(held, chosen) for data, held in sets.items()}
    accuracy, loss = np.mean(list(found.values()), axis=0).tolist()
    parts = {
        f"{data} {metric}": round(value, 4)
        for data, values in found.items()
        for metric, value in zip(("accuracy", "log loss"), values, strict=True)
    }
    members = " + ".join(names[number] for number in chosen)
    return {"committee": members, "criterion": round(1 - accuracy + loss, 5), "accuracy": round(accuracy, 4), **parts}


def main() -> None:
    sets = {data: held_out(Path(sys.argv[1]), data) for data in REPEATS}
    numbers = range(len(CLASSICAL) + len(NETWORKS))
    committees = [row(sets, chosen) for size in SIZES for chosen in combinations(numbers, size)]
    committees.sort(key=lambda each: each["criterion"])  # stable: in case of ties, the smaller committee is first
    alone = [row(sets, (number,)) for number in numbers]
    with write_atomically(Path(__file__).parent / "candidates.csv") as draft, draft.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, alone[0])
        writer.writeheader()
        writer.writerows([*committees, *alone])
    print(committees[0])


if __name__ == "__main__":
    main()
