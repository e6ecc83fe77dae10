"""Predictions and weights as rows of csv files."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bagwise.bags import EVENT, LABEL, TIME, Bags, LabelNames, split_labels
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
    labels : ndarray of shape (n_bags,) or (n_bags, k), or None
        The true labels; None leaves out the column label. Several labels have one column each, named by the bags;
        survival has the columns time and event.
    threshold : float, default=0.5
        Decision threshold between two classes.

    Yields
    ------
    dict
    """
    failures = find_failures(target.outputs, outputs)
    predicted = target.decode(target.decide(np.nan_to_num(outputs), threshold))
    label_columns = {} if labels is None else _split_values(labels, bags.label_names)
    predicted_columns = _split_values(predicted, bags.label_names, PREDICTED)
    for bag, size in enumerate(bags.sizes):
        status = FAILED if bag in failures else PREDICTED
        row: Row = {"bag": bags.name(bag), "status": status, "n_instances": int(size)}
        if bags.groups is not None:
            row["group"] = bags.groups[bag]
        row |= _get_row(label_columns, bag)
        yield row | _make_output_columns(target, _get_row(predicted_columns, bag), outputs[bag], bag, failures)


def _split_values(values: np.ndarray, label_names: LabelNames | None, word: str = LABEL) -> dict[str, np.ndarray]:
    """Return labels, or predicted values, by the name of the column; names of another number of labels are not used."""
    fitting = label_names is not None and values.ndim == 2 and values.shape[1] == len(label_names)
    columns = split_labels(values, label_names if fitting else None)
    if word == LABEL:
        return columns
    suffixes = {column: "" if column == LABEL else f" {column.removeprefix(f'{LABEL} ')}" for column in columns}
    return {f"{word}{suffixes[column]}": cells for column, cells in columns.items()}


def _get_row(columns: dict[str, np.ndarray], row: int) -> Row:
    """Return the cells of a row; an unknown one of several labels is empty."""
    cells = {column: values[row] for column, values in columns.items()}
    return {column: "" if len(cells) > 1 and cell != cell else cell for column, cell in cells.items()}


def read_label(row: dict[str, str], word: str = LABEL) -> str | tuple[str, ...]:
    """Return the label of a row of predictions.csv, or its predicted value, as ``Target.encode_names`` takes it.

    Parameters
    ----------
    row : dict of str to str
        The cells by column.
    word : {"label", "predicted"}, default="label"
        What to read.

    Returns
    -------
    str or tuple of str
        The cell; for several labels, or a time and an event, their cells, where an empty one is "nan".

    Examples
    --------
    >>> read_label({"label a": "1", "label b": ""}), read_label({"label": "yes"})
    (('1', 'nan'), 'yes')
    """
    cells = _find_cells(row, word)
    return row[word] if word in cells else tuple(cell or "nan" for cell in cells.values())


def format_label(row: dict[str, str], word: str = LABEL) -> str:
    """Format the label of a row of predictions.csv, or its predicted value, in one line.

    Parameters
    ----------
    row : dict of str to str
        The cells by column.
    word : {"label", "predicted"}, default="label"
        What to format.

    Returns
    -------
    str

    Examples
    --------
    >>> format_label({"label a": "1", "label b": ""}), format_label({"time": "2.5", "event": "True"})
    ('a: 1, b: unknown', 'time: 2.5, event: True')
    """
    cells = _find_cells(row, word)
    if word in cells:
        return row[word]
    return ", ".join(f"{column.removeprefix(f'{word} ')}: {cell or 'unknown'}" for column, cell in cells.items())


def has_label(row: dict[str, str], word: str = LABEL) -> bool:
    """Return whether a row of predictions.csv has a label, or a predicted value."""
    return bool(_find_cells(row, word))


def _find_cells(row: dict[str, str], word: str) -> dict[str, str]:
    if word in row:
        return {word: row[word]}
    several = {column: cell for column, cell in row.items() if str(column).startswith(f"{word} ")}
    is_survival = word == LABEL and TIME in row and EVENT in row
    return several or ({column: row[column] for column in (TIME, EVENT)} if is_survival else {})


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


def make_group_rows(
    target: Target,
    grouped: GroupPredictions,
    threshold: float = DEFAULT_THRESHOLD,
    label_names: LabelNames | None = None,
) -> list[Row]:
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
    label_names : tuple of str or None, default=None
        Names of several labels, for the names of their columns.

    Returns
    -------
    list of dict
    """
    failures = find_failures(target.outputs, grouped.outputs)
    predicted = target.decode(target.decide(np.nan_to_num(grouped.outputs), threshold))
    rows = []
    labels = None if grouped.targets is None else target.decode(grouped.targets)
    label_columns = {} if labels is None else _split_values(labels, label_names)
    predicted_columns = _split_values(predicted, label_names, PREDICTED)
    for group, name in enumerate(grouped.names):
        row: Row = {"group": name, "n_bags": int(grouped.n_bags[group])}
        row |= _get_row(label_columns, group)
        predicted_row = _get_row(predicted_columns, group)
        rows.append(row | _make_output_columns(target, predicted_row, grouped.outputs[group], group, failures))
    return rows


def _make_output_columns(
    target: Target, predicted: Row, outputs: np.ndarray, row: int, failures: dict[int, str]
) -> Row:
    """Make the predicted value and one column per output, empty if the row failed; ``repr`` keeps full precision."""
    columns = predicted.copy()
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
