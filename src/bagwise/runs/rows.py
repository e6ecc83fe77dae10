"""Predictions and weights as lines of a csv."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.evaluation.grouping import Grouped


def prediction_rows(
    classes: np.ndarray, bags: Bags, probabilities: np.ndarray, labels: np.ndarray | None
) -> list[dict[str, Any]]:
    """A line a bag: name, status, group and label where there are, the likeliest class, the probability of each."""
    likeliest = classes[probabilities.argmax(axis=1)]
    rows = []
    for bag, size in enumerate(bags.sizes):
        row: dict[str, Any] = {"bag": bags.name(bag), "status": "judged", "n_instances": int(size)}
        if bags.groups is not None:
            row["group"] = bags.groups[bag]
        if labels is not None:
            row["label"] = labels[bag]
        row["predicted"] = likeliest[bag]
        row |= {f"probability {label}": repr(float(p)) for label, p in zip(classes, probabilities[bag], strict=True)}
        rows.append(row)
    return rows


def group_rows(classes: np.ndarray, grouped: Grouped, groups: np.ndarray) -> list[dict[str, Any]]:
    """A line a group (a patient): its bags, its label, the likeliest class, the mean probability of each."""
    n_bags = dict(zip(*np.unique(groups, return_counts=True), strict=True))
    return [
        {
            "group": name,
            "n_bags": int(n_bags[name]),
            "label": classes[target],
            "predicted": classes[chances.argmax()],
            **{f"probability {label}": repr(float(p)) for label, p in zip(classes, chances, strict=True)},
        }
        for name, target, chances in zip(*grouped, strict=True)
    ]


def empty_rows(names: Sequence[str]) -> list[dict[str, Any]]:
    """A line for each bag that has no instance, so that nobody takes it for forgotten."""
    return [{"bag": name, "status": "empty", "n_instances": 0} for name in names]


def weight_rows(bags: Bags, weights: np.ndarray) -> list[dict[str, Any]]:
    """A line an instance: its bag, its number in the bag, its position where there is one, its weight."""
    rows = []
    for row, (owner, weight) in enumerate(zip(bags.owners, weights, strict=True)):
        line: dict[str, Any] = {"bag": bags.name(owner), "instance": int(row - bags.offsets[owner])}
        if bags.positions is not None:
            line["x"], line["y"] = bags.positions[row].tolist()
        rows.append({**line, "weight": repr(float(weight))})
    return rows
