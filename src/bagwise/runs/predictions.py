"""Predictions and weights as rows of csv files."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.evaluation import GroupPredictions
from bagwise.targets import DEFAULT_THRESHOLD, decide_classes

Row = dict[str, Any]

PREDICTED, EMPTY = "predicted", "empty"  # values of the column "status"


def make_prediction_rows(
    classes: np.ndarray,
    bags: Bags,
    probabilities: np.ndarray,
    labels: np.ndarray | None,
    threshold: float = DEFAULT_THRESHOLD,
) -> Iterator[Row]:
    """Make one row per bag: name, status, size, group, label, predicted class and probabilities.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The class labels.
    bags : Bags
        The bags; without groups, the column group is left out.
    probabilities : ndarray of shape (n_bags, n_classes)
        The predicted probabilities.
    labels : ndarray of shape (n_bags,) or None
        The true labels; None leaves out the column label.
    threshold : float, default=0.5
        Decision threshold between two classes.

    Yields
    ------
    dict
    """
    predicted = classes[decide_classes(probabilities, threshold)]
    for bag, size in enumerate(bags.sizes):
        row: Row = {"bag": bags.name(bag), "status": PREDICTED, "n_instances": int(size)}
        if bags.groups is not None:
            row["group"] = bags.groups[bag]
        if labels is not None:
            row["label"] = labels[bag]
        row["predicted"] = predicted[bag]
        yield row | _make_probability_columns(classes, probabilities[bag])


def make_empty_rows(names: Sequence[str]) -> list[Row]:
    """Make one row per bag without instances, so that the file lists every bag of the data.

    Parameters
    ----------
    names : sequence of str
        Names of the bags.

    Returns
    -------
    list of dict
    """
    return [{"bag": name, "status": EMPTY, "n_instances": 0} for name in names]


def make_group_rows(classes: np.ndarray, grouped: GroupPredictions, threshold: float = DEFAULT_THRESHOLD) -> list[Row]:
    """Make one row per group (e.g. patient): number of bags, label, predicted class and mean probabilities.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The class labels.
    grouped : GroupPredictions
        The predictions; if their targets are None, the column label is left out.
    threshold : float, default=0.5
        Decision threshold between two classes.

    Returns
    -------
    list of dict
    """
    predicted = classes[decide_classes(grouped.probabilities, threshold)]
    rows = []
    for group, name in enumerate(grouped.names):
        row: Row = {"group": name, "n_bags": int(grouped.n_bags[group])}
        if grouped.targets is not None:
            row["label"] = classes[grouped.targets[group]]
        row["predicted"] = predicted[group]
        rows.append(row | _make_probability_columns(classes, grouped.probabilities[group]))
    return rows


def _make_probability_columns(classes: np.ndarray, probabilities: np.ndarray) -> Row:
    """Make one column per class; ``repr`` keeps full precision."""
    return {f"probability {label}": repr(float(value)) for label, value in zip(classes, probabilities, strict=True)}


def make_weight_rows(bags: Bags, weights: np.ndarray) -> Iterator[Row]:
    """Make one row per instance: bag, index within the bag, position if known, and weight.

    Parameters
    ----------
    bags : Bags
        The bags.
    weights : ndarray of shape (n_instances,)
        The weight of each instance, in the order of the bags.

    Yields
    ------
    dict
    """
    for index, (owner, weight) in enumerate(zip(bags.bag_indices, weights, strict=True)):
        row: Row = {"bag": bags.name(owner), "instance": int(index - bags.offsets[owner])}
        if bags.positions is not None:
            row["x"], row["y"] = bags.positions[index].tolist()
        yield {**row, "weight": repr(float(weight))}


def make_training_rows(bags: Bags, use: str) -> Iterator[Row]:
    """Make one row per bag: name, use ("training" or "validation"), and group if there are groups."""
    for bag in range(len(bags)):
        yield {"bag": bags.name(bag), "use": use} | ({} if bags.groups is None else {"group": bags.groups[bag]})
