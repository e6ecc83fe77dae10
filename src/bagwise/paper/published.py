"""What the paper printed: its six tables of results, number by number.

table1                             accuracy on the classical sets (section 4.1)
mnist-bags-10, -50, -100           AUC by number of training bags (appendix)
breast, colon                      five metrics (section 4.3)
"""

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple


class Published(NamedTuple):
    """A mean, and the error the paper puts beside it; None where it has none."""

    mean: float
    error: float | None


@cache
def published(table: str) -> dict[tuple[str, str], Published]:
    """A table by (method, column), methods named as ``METHODS`` names them.

    >>> published("table1")["attention", "musk1"]
    Published(mean=0.892, error=0.04)
    """
    text = resources.files("bagwise.paper").joinpath("published.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["table"] == table]
    if not rows:
        raise KeyError(f"the paper has no table '{table}'")
    return {
        (row["method"], row["column"]): Published(float(row["mean"]), float(row["error"]) if row["error"] else None)
        for row in rows
    }
