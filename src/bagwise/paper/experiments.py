"""The parts of an experiment: its settings, each with plans of comparisons, and how their results are shown."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from bagwise.evaluation.comparison import ComparisonPlan
from bagwise.paper.floors import Floor

Parameters = dict[str, Any]


class Setting(NamedTuple):
    """One column of a table, or one table whose columns are metrics.

    Attributes
    ----------
    name : str
        Name of the folder of the setting.
    table : str
        Name of the table; if ``comparable``, that of a table in the paper.
    column : str or None
        Name of the column; None if the columns are metrics.
    plans : list of ComparisonPlan
        One plan, or one per draw of the training bags.
    title : str, default=""
        Suffix of the name of the table, such as a protocol that is not the default.
    comparable : bool, default=True
        Whether the numbers can be compared with the paper's.
    metrics : tuple of str, default=()
        Columns that are metrics, instead of those of the paper's table; there are no tables of instances then.
    rows : mapping of str to str, default={}
        Names of rows that differ from the names of their methods. The parameters of such a method are the subject of
        the experiment, so no protocol changes them.
    on_request : bool, default=False
        Whether the setting is run only if it is chosen.
    """

    name: str
    table: str
    column: str | None
    plans: list[ComparisonPlan]
    title: str = ""
    comparable: bool = True
    metrics: tuple[str, ...] = ()
    rows: Mapping[str, str] = MappingProxyType({})
    on_request: bool = False

    @property
    def methods(self) -> list[str]:
        """The distinct methods of all plans."""
        return list(dict.fromkeys(method for plan in self.plans for method in plan.methods))

    def name_row(self, method: str) -> str:
        """Return the name of a method's row."""
        return self.rows.get(method, method)


class Recipe(NamedTuple):
    """An experiment.

    Attributes
    ----------
    title : str
        Title of the experiment.
    metric : str
        Metric of columns that are data sets or numbers.
    pooled : bool
        Whether a metric is computed on the predictions of all folds of a repeat together; otherwise, it is the mean
        over folds.
    settings : callable
        ``settings(repeats, quick)`` returns a list of ``Setting``.
    x_label : str, default="training bags"
        Meaning of columns that are numbers.
    repeats : int, default=5
        Number of repeats if none is given.
    legend : str, default=""
        Explanation of the tables; if empty, that of tables with the paper's numbers.
    floors : tuple of Floor, default=()
        Bounds that the results should meet.
    """

    title: str
    metric: str
    pooled: bool
    settings: Callable[[int, bool], list[Setting]]
    x_label: str = "training bags"
    repeats: int = 5
    legend: str = ""
    floors: tuple[Floor, ...] = ()

    def count_repeats(self, repeats: int | None, quick: bool) -> int:
        """Return the number of repeats: the given one, or the recipe's (one for the quick version) if it is None."""
        return repeats if repeats is not None else 1 if quick else self.repeats
