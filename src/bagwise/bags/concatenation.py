"""Concatenation of bags: views of the same rows, with features aligned by name."""

from typing import Any

import numpy as np

from bagwise.bags.checks import PER_BAG, check_metadata, get_column_kind
from bagwise.bags.feature_names import align_features, join_names
from bagwise.bags.labels import split_labels
from bagwise.bags.row_views import RowView
from bagwise.bags.rows import VIEWED
from bagwise.errors import InputError


def concatenate_fields(parts: Any, bags_class: type) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the offsets and the other fields of several bags, one after the other."""
    if not parts or not all(isinstance(part, bags_class) for part in parts):
        raise InputError("there is nothing to concatenate; pass a list of at least one Bags")
    names = parts[0].feature_names if all(part.feature_names is not None for part in parts) else None
    if names is not None:
        parts = [align_features(part, names, whose="the first bags") for part in parts]
    shapes = {part.instance_shape for part in parts}
    if len(shapes) != 1:
        raise InputError(
            f"cannot concatenate bags whose instances differ in shape: {sorted(shapes)}; convert them to one shape"
        )
    extractors = {part.extractor for part in parts}
    if len(extractors) != 1:
        found = sorted(map(str, extractors))
        raise InputError(f"cannot concatenate features of different extractors: {found}; use one extractor for all")
    fields: dict[str, Any] = {"extractor": extractors.pop(), "feature_names": names}
    for name in PER_BAG:
        values = [getattr(part, name) for part in parts]
        if all(value is not None for value in values):
            if name == "labels":
                check_same_columns(parts)
            fields[name] = concatenate_arrays(name, values)
    if "labels" in fields:
        fields["label_names"] = parts[0].label_names
    for name in VIEWED:
        views = [part.view(name) for part in parts]
        if all(view is not None for view in views):
            fields[name] = RowView.concatenate(views)
    offsets = fields["instances"].offsets
    check_metadata({name: fields[name] for name in PER_BAG if name in fields}, offsets, fields.get("names"))
    return offsets, fields


def check_same_columns(parts: Any) -> None:
    """Check that the labels of all parts have the same columns, in the same order."""
    columns = [[*split_labels(part.labels, part.label_names)] for part in parts]
    different = next((found for found in columns if found != columns[0]), None)
    if different is not None:
        raise InputError(
            f"cannot concatenate labels of different columns: {join_names(columns[0])} and {join_names(different)}; "
            "give all bags the same labels in the same order, or remove them: bags.replace(labels=None)"
        )


def concatenate_arrays(name: str, values: list[np.ndarray]) -> np.ndarray:
    """Concatenate arrays of a field; reject numbers with strings, because 1 and "1" would become one label."""
    are_mixable = name not in ("labels", "groups") or values[0].dtype.names is not None
    kinds = set() if are_mixable else {get_column_kind(name, value.ravel()) for value in values}
    if len(kinds) > 1 and kinds != {"int", "float"}:
        raise InputError(
            f"cannot concatenate {name} of different types: {', '.join(sorted(kinds))}; convert one of them first"
        )
    return np.concatenate(values)
