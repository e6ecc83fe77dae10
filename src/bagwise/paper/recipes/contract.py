"""What a recipe says: which data, which methods with which parameters, which protocol."""

from collections.abc import Callable
from typing import NamedTuple

from bagwise.comparing.plan import Plan


class Setting(NamedTuple):
    """One column of a table, or one table whose columns are metrics."""

    name: str  # of its folder
    table: str  # of the paper
    column: str | None  # None where the columns are metrics
    plans: list[Plan]  # one, or one for each draw of the training bags
    title: str = ""  # of a table that is not the default's, because the protocol is another
    comparable: bool = True  # with the paper's numbers

    @property
    def methods(self) -> list[str]:
        """Those of all its plans, each once."""
        return list(dict.fromkeys(method for plan in self.plans for method in plan.methods))


class Recipe(NamedTuple):
    """An experiment of the paper."""

    title: str
    metric: str  # of the columns that are data
    pooled: bool  # whether a metric is taken over a repeat's predictions together, or is the mean over folds
    settings: Callable[[int, bool], list[Setting]]  # (repeats, quick)
    along: str = "training bags"  # of columns that are numbers
