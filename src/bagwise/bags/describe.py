"""Bags in words: one line for the terminal, a small table for Jupyter."""

import html
from typing import Any

import numpy as np


def line(bags: Any) -> str:
    """Everything in one line."""
    return "Bags: " + "; ".join([_extent(bags), *(f"{key} {text}" for key, text in _facts(bags).items())])


def table(bags: Any) -> str:
    """The same as an HTML table."""
    left = "style='text-align:left'"
    rows = "".join(
        f"<tr><th {left}>{html.escape(key)}</th><td {left}>{html.escape(text)}</td></tr>"
        for key, text in {"Bags": _extent(bags), **_facts(bags)}.items()
    )
    return f"<table>{rows}</table>"


def _extent(bags: Any) -> str:
    if len(bags) == 0:
        return "0 bags"
    shape = "×".join(map(str, bags.instance_shape))
    sizes = bags.sizes
    each = f"{sizes.min()} to {sizes.max()} a bag (median {np.median(sizes):g})"
    return f"{bags.n_bags} bags, {bags.n_instances} instances of {shape} {bags.instances.dtype}, {each}"


def _facts(bags: Any) -> dict[str, str]:
    facts = {}
    if bags.labels is not None:
        facts["labels"] = _counts(bags.labels)
    if bags.groups is not None:
        facts["groups"] = str(len(np.unique(bags.groups)))
    if bags.instance_labels is not None:
        facts["instance labels"] = _counts(bags.instance_labels)
    if bags.names is not None and len(bags):
        facts["names"] = f"{bags.names[0]} …"
    if bags.positions is not None:
        facts["positions"] = "x, y"
    if bags.extractor is not None:
        facts["extractor"] = bags.extractor
    return facts


def _counts(values: np.ndarray) -> str:
    values = values.astype(str) if values.dtype.kind == "O" else values
    unique, counts = np.unique(values, return_counts=True)
    shown = ", ".join(f"{value}: {count}" for value, count in list(zip(unique, counts, strict=True))[:6])
    return shown + (f", … {len(unique)} values" if len(unique) > 6 else "")
