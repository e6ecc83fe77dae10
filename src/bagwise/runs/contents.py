"""What the files of a run must say to be shown: checked when they are read, since a run may come from a stranger."""

import math
from dataclasses import fields
from typing import Any

from bagwise.training.history import Epoch

JUDGED = ("bag", "n_instances", "label", "predicted")
EPOCH = {field.name for field in fields(Epoch)}


def checked_parameters(content: Any) -> dict[str, Any]:
    """The data by its name and its options, the split, and the parameters of the estimator."""
    data, parameters = content["data"], content["parameters"]
    words = isinstance(data["data"], str) and isinstance(data["options"], dict)
    if not (words and all(isinstance(parameters[name], str) for name in ("level", "encoder", "pooling"))):
        raise ValueError("it does not name its data and its model")
    return content


def checked_predictions(rows: list[dict[str, str]], classes: list[str]) -> list[dict[str, str]]:
    """A row a test bag: each of a known label, with a probability for each class."""
    wanted = {*JUDGED, *(f"probability {label}" for label in classes)}
    for number, row in enumerate(rows, start=1):
        if not wanted <= row.keys() or None in row or None in row.values():
            raise ValueError(f"row {number} has other columns than a prediction")
        chances = [float(row[f"probability {label}"]) for label in classes]
        if not (all(0 <= chance <= 1 for chance in chances) and {row["label"], row["predicted"]} <= {*classes}):
            raise ValueError(f"row {number} does not hold labels and probabilities of the model's classes")
        if not 0 < int(row["n_instances"]) < 1 << 40:
            raise ValueError(f"row {number} is of a bag of {row['n_instances']} instances")
    if not rows:
        raise ValueError("it holds no predictions")
    return rows


def checked_training(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """A row a bag: its name and use, and its group where there are groups."""
    if any({*row} not in ({"bag", "use"}, {"bag", "use", "group"}) or None in row.values() for row in rows):
        raise ValueError("its columns are not those of the bags that were learned from")
    return rows


def checked_history(rows: list[dict[str, str]]) -> list[dict[str, float | None]]:
    """A row an epoch, of numbers; what was not measured is None."""
    if any(row.keys() != EPOCH for row in rows):
        raise ValueError("its columns are not those of a history")
    found = [{name: float(value) if value else None for name, value in row.items()} for row in rows]
    if not all(_is_number(value) for row in found for value in row.values()):
        raise ValueError("a number of an epoch is not finite")
    return found


def checked_metrics(content: Any) -> dict[str, Any]:
    """Counts, and metrics of bags, of groups and of instances."""
    parts = [content["bags"], *([content["groups"]["metrics"]] if "groups" in content else [])]
    for entry in (entry for part in parts for entry in part.values()):
        low, high = entry["interval"] or (None, None)
        if not all(map(_is_number, (entry["value"], low, high))):
            raise ValueError("a metric is not a number with its interval")
    keys = [value for found in content.get("instances", {}).values() for value in found.values()]
    if not all(map(_is_number, [content["n_bags"], content["n_instances"], *keys])):
        raise ValueError("a metric is not a number")
    return content


def _is_number(value: Any) -> bool:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (known and math.isfinite(value))
