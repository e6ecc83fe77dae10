"""Summaries of bags: one line for the terminal, and an HTML table for Jupyter."""

import html
from typing import Any

import numpy as np

MAX_VALUES = 6  # maximum number of labels to list


def describe_in_line(bags: Any) -> str:
    """Return a summary of bags in one line."""
    metadata = [f"{key} {text}" for key, text in _list_metadata(bags).items()]
    return "Bags: " + "; ".join([_describe_size(bags), *metadata])


def describe_in_html(bags: Any) -> str:
    """Return a summary of bags as an HTML table."""
    left = "style='text-align:left'"
    rows = "".join(
        f"<tr><th {left}>{html.escape(key)}</th><td {left}>{html.escape(text)}</td></tr>"
        for key, text in {"Bags": _describe_size(bags), **_list_metadata(bags)}.items()
    )
    return f"<table>{rows}</table>"


def _describe_size(bags: Any) -> str:
    if len(bags) == 0:
        return "0 bags"
    shape = "×".join(map(str, bags.instance_shape))
    sizes = bags.sizes
    instances = f"{bags.n_instances} instance{'s' * (bags.n_instances != 1)} of {shape} {bags.dtype}"
    per_bag = f"{sizes.min()} to {sizes.max()} per bag (median {np.median(sizes):g})"
    return f"{bags.n_bags} bag{'s' * (bags.n_bags != 1)}, {instances}, {per_bag}"


def _list_metadata(bags: Any) -> dict[str, str]:
    metadata = {}
    if bags.labels is not None:
        metadata["labels"] = _describe_labels(bags.labels, bags.label_names)
    if bags.groups is not None:
        metadata["groups"] = str(len(np.unique(bags.groups)))
    if bags.instance_labels is not None:
        metadata["instance labels"] = _count_values(bags.instance_labels)
    if bags.names is not None and len(bags):
        metadata["names"] = f"{bags.names[0]} …"
    if bags.view("positions") is not None:
        metadata["positions"] = "x, y"
    if bags.feature_names is not None:
        more = " …" if len(bags.feature_names) > MAX_VALUES else ""
        metadata["features"] = ", ".join(bags.feature_names[:MAX_VALUES]) + more
    if bags.extractor is not None:
        metadata["extractor"] = bags.extractor
    return metadata


def _describe_labels(labels: np.ndarray, label_names: Any) -> str:
    """Count the values of one label; describe each of several labels, and the event and the time."""
    if labels.dtype.names is not None:
        return ", ".join(f"{name}: {_describe_column(labels[name])}" for name in labels.dtype.names)
    if labels.ndim == 1:
        return _count_values(labels)
    names = [str(name) for name in (range(labels.shape[1]) if label_names is None else label_names)]
    columns = [f"{name}: {_describe_column(labels[:, k])}" for k, name in enumerate(names[:MAX_VALUES])]
    return ", ".join(columns) + (f", … {len(names)} labels" if len(names) > MAX_VALUES else "")


def _describe_column(values: np.ndarray) -> str:
    """Return how many values are 1 if all are 0 or 1, and the range of other numbers."""
    known = values if values.dtype.kind == "b" else values[~np.isnan(values)]
    if len(known) == 0:
        text = "none"
    elif np.isin(known, (0, 1)).all():
        text = f"{np.count_nonzero(known)} of {len(known)}"
    else:
        text = f"{known.min():g} to {known.max():g}"
    return text + (f" ({len(values) - len(known)} unknown)" if len(known) < len(values) else "")


def _count_values(values: np.ndarray) -> str:
    values = values.astype(str) if values.dtype.kind == "O" else values
    unique, counts = np.unique(values, return_counts=True)
    pairs = list(zip(unique, counts, strict=True))[:MAX_VALUES]
    listed = ", ".join(f"{value}: {count}" for value, count in pairs)
    return listed + (f", … {len(unique)} values" if len(unique) > MAX_VALUES else "")
