"""Checks of the content of a run's files when they are read, since a run may come from an untrusted source.

Each function returns the content it was given, or raises an error that states what is wrong with it.
"""

import math
from dataclasses import fields
from typing import Any

from bagwise.estimators import METHODS
from bagwise.runs.predictions import has_label, read_label
from bagwise.targets import Target
from bagwise.training import Epoch

PREDICTION_COLUMNS = ("bag", "n_instances")
EPOCH_COLUMNS = {field.name for field in fields(Epoch)}
NETWORK_PARTS = ("level", "encoder", "pooling")
MAX_INSTANCES = 1 << 40  # per bag


def check_parameters(content: Any) -> dict[str, Any]:
    """Check parameters.json: the name and the options of the data, the method, and its parameters."""
    data, method, parameters = content["data"], content.setdefault("method", None), content["parameters"]
    has_data = isinstance(data["data"], str) and isinstance(data["options"], dict)
    is_network = method is None and all(isinstance(parameters[name], str) for name in NETWORK_PARTS)
    if not (has_data and isinstance(parameters, dict) and (is_network or method in METHODS)):
        raise ValueError("it does not name its data and its model")
    return content


def check_network(content: Any) -> dict[str, Any]:
    """Check model.json of a network; return its parts, the number of networks and the shape of an instance."""
    parameters = content["parameters"]
    parts = {name: parameters[name] for name in NETWORK_PARTS}
    counts = {"averaging": parameters["averaging"], "networks": content["learned"]["networks"]}
    if not all(isinstance(part, str) for part in parts.values()) or not all(map(_is_finite_or_none, counts.values())):
        raise ValueError("it does not describe a network")
    return {**parts, **counts, "instance_shape": tuple(int(length) for length in content["instance_shape"])}


def check_predictions(rows: list[dict[str, str]], target: Target) -> list[dict[str, str]]:
    """Check predictions.csv: one row per test bag, with a known label and every output within its range."""
    required = {*PREDICTION_COLUMNS, *(output.name for output in target.outputs)}
    for number, row in enumerate(rows, start=1):
        labels = [read_label(row, word) for word in ("label", "predicted") if has_label(row, word)]
        if len(labels) < 2 or not required <= row.keys() or None in row or None in row.values():
            raise ValueError(f"row {number} does not have the columns of a prediction")
        in_range = all(output.low <= float(row[output.name]) <= output.high for output in target.outputs)
        if not in_range or not all(_is_label(target, label) for label in labels):
            raise ValueError(f"row {number} does not have labels and outputs of the model's target")
        if not 0 < int(row["n_instances"]) < MAX_INSTANCES:
            raise ValueError(f"row {number}: n_instances must be between 1 and 2⁴⁰, got {row['n_instances']}")
    if not rows:
        raise ValueError("it has no predictions")
    return rows


def _is_label(target: Target, label: str | tuple[str, ...]) -> bool:
    try:
        target.encode_names([label])
    except ValueError:
        return False
    return True


def check_training(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Check training.csv: one row per bag, with its name and use, and its group if there are groups."""
    if any({*row} not in ({"bag", "use"}, {"bag", "use", "group"}) or None in row.values() for row in rows):
        raise ValueError("its columns must be bag, use and, optionally, group")
    return rows


def check_history(rows: list[dict[str, str]]) -> list[dict[str, float | None]]:
    """Check history.csv, one row per epoch, and convert it to numbers; None for values that were not measured."""
    if any(row.keys() != EPOCH_COLUMNS for row in rows):
        raise ValueError("its columns are not those of a training history")
    history = [{name: float(value) if value else None for name, value in row.items()} for row in rows]
    if not all(_is_finite_or_none(value) for row in history for value in row.values()):
        raise ValueError("a value of an epoch is not finite")
    return history


def check_screening(rows: list[dict[str, str]], target: Target) -> list[dict[str, Any]]:
    """Check screening.csv: one row per method; convert its numbers, with None for undefined ones."""
    columns = {"method", "weight", "estimated_seconds", *target.metrics}
    if any(row.keys() != columns or None in row.values() for row in rows):
        raise ValueError("its columns are not those of a screening")
    numbers = columns - {"method"}
    table: list[dict[str, Any]] = [
        {**row, **{name: float(row[name]) if row[name] else None for name in numbers}} for row in rows
    ]
    if not all(_is_finite_or_none(row[name]) for row in table for name in numbers):
        raise ValueError("a number of a method is not finite")
    if not all(row["weight"] is not None and 0 <= row["weight"] <= 1 for row in table):
        raise ValueError("a weight is not between 0 and 1")
    return table


def check_baselines(content: Any) -> dict[str, dict[str, float | None]]:
    """Check baselines.json: metrics of bags for each baseline."""
    if not all(_is_finite_or_none(value) for metrics in content.values() for value in metrics.values()):
        raise ValueError("a metric of a baseline is not a number")
    return content


def check_metrics(content: Any) -> dict[str, Any]:
    """Check metrics.json: counts, and metrics of bags, groups and instances."""
    for part in [content["bags"], *([content["groups"]["metrics"]] if "groups" in content else [])]:
        _check_intervals(part)
    instance_metrics = [value for metrics in content.get("instances", {}).values() for value in metrics.values()]
    counts = [content["n_bags"], content["n_instances"], content.get("seen_bags")]
    if not all(map(_is_finite_or_none, [*counts, *instance_metrics])):
        raise ValueError("a metric is not a number")
    return content


def _check_intervals(metrics: Any) -> None:
    for entry in metrics.values():
        low, high = entry["interval"] or (None, None)
        if not all(map(_is_finite_or_none, (entry["value"], low, high))):
            raise ValueError("a metric is not a number with an interval")


def _is_finite_or_none(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (is_number and math.isfinite(value))
