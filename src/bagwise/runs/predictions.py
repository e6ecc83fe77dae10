"""Predictions and weights as rows of csv files."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.evaluation import GroupPredictions
from bagwise.targets import DEFAULT_THRESHOLD, Target, find_failures

Row = dict[str, Any]

PREDICTED, FAILED, EMPTY = "predicted", "failed", "empty"  # values of the column "status"


def make_prediction_rows(
    target: Target,
    bags: Bags,
    outputs: np.ndarray,
    labels: np.ndarray | None,
    threshold: float = DEFAULT_THRESHOLD,
) -> Iterator[Row]:
    """Make one row per bag: name, status, size, group, label, predicted value and outputs.

    A bag with an output that is not finite has the status "failed" and no prediction; then every row has the column
    reason.

    Parameters
    ----------
    target : Target
        The target of the model.
    bags : Bags
        The bags; without groups, the column group is left out.
    outputs : ndarray of shape (n_bags, n_outputs)
        The outputs of the model.
    labels : ndarray of shape (n_bags,) or None
        The true labels; None leaves out the column label.
    threshold : float, default=0.5
        Decision threshold between two classes.

    Yields
    ------
    dict
    """
    failures = find_failures(target.outputs, outputs)
    predicted = target.decode(target.decide(np.nan_to_num(outputs), threshold))
    for bag, size in enumerate(bags.sizes):
        status = FAILED if bag in failures else PREDICTED
        row: Row = {"bag": bags.name(bag), "status": status, "n_instances": int(size)}
        if bags.groups is not None:
            row["group"] = bags.groups[bag]
        if labels is not None:
            row["label"] = labels[bag]
        yield row | _make_output_columns(target, predicted[bag], outputs[bag], bag, failures)


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


def make_group_rows(target: Target, grouped: GroupPredictions, threshold: float = DEFAULT_THRESHOLD) -> list[Row]:
    """Make one row per group (e.g. patient): number of bags, label, predicted value and mean outputs.

    A group with a bag that failed has no prediction, but a reason.

    Parameters
    ----------
    target : Target
        The target of the model.
    grouped : GroupPredictions
        The predictions; if their targets are None, the column label is left out.
    threshold : float, default=0.5
        Decision threshold between two classes.

    Returns
    -------
    list of dict
    """
    failures = find_failures(target.outputs, grouped.outputs)
    predicted = target.decode(target.decide(np.nan_to_num(grouped.outputs), threshold))
    rows = []
    for group, name in enumerate(grouped.names):
        row: Row = {"group": name, "n_bags": int(grouped.n_bags[group])}
        if grouped.targets is not None:
            row["label"] = target.decode(grouped.targets[group])
        rows.append(row | _make_output_columns(target, predicted[group], grouped.outputs[group], group, failures))
    return rows


def _make_output_columns(
    target: Target, predicted: Any, outputs: np.ndarray, row: int, failures: dict[int, str]
) -> Row:
    """Make the predicted value and one column per output, empty if the row failed; ``repr`` keeps full precision."""
    columns: Row = {"predicted": predicted}
    columns |= {output.name: repr(float(value)) for output, value in zip(target.outputs, outputs, strict=True)}
    if row in failures:
        columns = dict.fromkeys(columns, "")
    return columns | ({"reason": failures.get(row, "")} if failures else {})


def make_weight_rows(bags: Bags, weights: np.ndarray) -> Iterator[Row]:
    """Make one row per instance: bag, index within the bag, position if known, and weight.

    Bags with a weight that is not finite are left out; their predictions have failed.

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
    positions = bags.view("positions")
    for bag, (start, end) in enumerate(pairwise(bags.offsets.tolist())):
        corners = None if positions is None else positions.read_bag(bag).tolist()
        if not np.isfinite(weights[start:end]).all():
            continue
        for index, weight in enumerate(weights[start:end]):
            row: Row = {"bag": bags.name(bag), "instance": index}
            if corners is not None:
                row["x"], row["y"] = corners[index]
            yield {**row, "weight": repr(float(weight))}


def make_training_rows(bags: Bags, use: str) -> Iterator[Row]:
    """Make one row per bag: name, use ("training" or "validation"), and group if there are groups."""
    for bag in range(len(bags)):
        yield {"bag": bags.name(bag), "use": use} | ({} if bags.groups is None else {"group": bags.groups[bag]})
