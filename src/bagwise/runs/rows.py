"""Predictions and weights as lines of a csv."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.decisions import EVEN, decide
from bagwise.evaluation.grouping import Grouped


def prediction_rows(
    classes: np.ndarray, bags: Bags, probabilities: np.ndarray, labels: np.ndarray | None, threshold: float = EVEN
) -> Iterator[dict[str, Any]]:
    """A line a bag: name, status, group and label where there are, the class decided for, the probability of each."""
    decided = classes[decide(probabilities, threshold)]
    for bag, size in enumerate(bags.sizes):
        row: dict[str, Any] = {"bag": bags.name(bag), "status": "judged", "n_instances": int(size)}
        if bags.groups is not None:
            row["group"] = bags.groups[bag]
        if labels is not None:
            row["label"] = labels[bag]
        row["predicted"] = decided[bag]
        row |= {f"probability {label}": repr(float(p)) for label, p in zip(classes, probabilities[bag], strict=True)}
        yield row


def training_rows(bags: Bags, use: str) -> Iterator[dict[str, Any]]:
    """A line a bag: name, what it was used for, group where there is one."""
    for bag in range(len(bags)):
        yield {"bag": bags.name(bag), "use": use} | ({} if bags.groups is None else {"group": bags.groups[bag]})


def group_rows(classes: np.ndarray, grouped: Grouped, threshold: float = EVEN) -> list[dict[str, Any]]:
    """A line a group (a patient): its bags, its label where known, the class decided for, the mean probabilities."""
    decided = classes[decide(grouped.probabilities, threshold)]
    rows = []
    for group, name in enumerate(grouped.names):
        row: dict[str, Any] = {"group": name, "n_bags": int(grouped.n_bags[group])}
        if grouped.targets is not None:
            row["label"] = classes[grouped.targets[group]]
        row["predicted"] = decided[group]
        chances = zip(classes, grouped.probabilities[group], strict=True)
        rows.append(row | {f"probability {label}": repr(float(chance)) for label, chance in chances})
    return rows


def empty_rows(names: Sequence[str]) -> list[dict[str, Any]]:
    """A line for each bag that has no instance, so that nobody takes it for forgotten."""
    return [{"bag": name, "status": "empty", "n_instances": 0} for name in names]


def weight_rows(bags: Bags, weights: np.ndarray) -> Iterator[dict[str, Any]]:
    """A line an instance: its bag, its number in the bag, its position where there is one, its weight."""
    for row, (owner, weight) in enumerate(zip(bags.owners, weights, strict=True)):
        line: dict[str, Any] = {"bag": bags.name(owner), "instance": int(row - bags.offsets[owner])}
        if bags.positions is not None:
            line["x"], line["y"] = bags.positions[row].tolist()
        yield {**line, "weight": repr(float(weight))}
