"""The published results of the paper, in six tables.

table1                             accuracy on the classical data sets (section 4.1)
mnist-bags-10, -50, -100           AUC by number of training bags (appendix)
breast, colon                      five metrics (section 4.3)
"""

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple


class Published(NamedTuple):
    """A published result.

    Attributes
    ----------
    mean : float
        Published mean.
    error : float or None
        Error that is printed next to the mean; None if there is none.
    """

    mean: float
    error: float | None


@cache
def read_published(table: str) -> dict[tuple[str, str], Published]:
    """Read a table of the paper.

    Parameters
    ----------
    table : {"table1", "mnist-bags-10", "mnist-bags-50", "mnist-bags-100", "breast", "colon"}
        Name of the table.

    Returns
    -------
    dict of (str, str) to Published
        Results by method and column; methods have the names of ``METHODS``.

    Raises
    ------
    KeyError
        If there is no such table.

    Examples
    --------
    >>> read_published("table1")["attention", "musk1"]
    Published(mean=0.892, error=0.04)
    """
    text = resources.files("bagwise.paper").joinpath("published.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["table"] == table]
    if not rows:
        raise KeyError(f"the paper has no table '{table}'")
    return {
        (row["method"], row["column"]): Published(
            mean=float(row["mean"]), error=float(row["error"]) if row["error"] else None
        )
        for row in rows
    }
