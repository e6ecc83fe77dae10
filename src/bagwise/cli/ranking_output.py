"""The printed ranking of ``bagwise compare``: a table of 80 columns, and the command that trains the best method."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bagwise.cli.options import read_options

if TYPE_CHECKING:
    from bagwise.evaluation.comparison import Comparison, Ranking

WIDTH = 80
N_COLUMNS = 4  # columns of metrics
MIN_NAME = 8
LEGEND = {
    "*": "* best",
    "~": "~ not distinguishable from the best",
    "!": "! not better than the majority",
}

Row = tuple[str, ...]


def make_rows(
    scores: dict[str, dict[str, Any]], titles: dict[str, str], ranking: "Ranking", marked: bool
) -> tuple[Row, list[Row]]:
    """Return the header and the rows of a table in the order of the ranking, which fits in 80 columns.

    The first metric is printed with its error or interval. Names of methods are shortened in the middle if needed.
    """
    chosen = list(titles)[:N_COLUMNS]
    header = ("", *(titles[name].replace(" ", "\n") for name in chosen))
    marks = {ranked.method: ranked.marks for ranked in ranking.methods} if marked else {}
    names, cells = [name for name in ranking.names if name in scores], []
    for name in names:
        first, *others = (scores[name][metric].errors for metric in chosen)
        cells.append((_format_score(first), *(_format_mean(errors) for errors in others)))
    widths = [
        max(len(line) for line in [*title.split("\n"), *column])
        for title, column in zip(header[1:], zip(*cells, strict=True), strict=True)
    ]
    available = WIDTH - sum(widths) - 3 * len(header) - 1  # three characters of padding and lines per column
    labels = [_make_label(name, marks.get(name, ""), max(available, MIN_NAME)) for name in names]
    return header, [(label, *row) for label, row in zip(labels, cells, strict=True)]


def _make_label(name: str, marks: str, width: int) -> str:
    return f"{shorten_middle(name, width - len(marks) - 1)} {marks}" if marks else shorten_middle(name, width)


def shorten_middle(name: str, width: int) -> str:
    """Shorten a name to a width by leaving out its middle.

    >>> shorten_middle("bagwise ensemble", 12), shorten_middle("naive", 12)
    ('bagwis…emble', 'naive')
    """
    if len(name) <= width:
        return name
    end = (width - 1) // 2
    return f"{name[: width - 1 - end]}…{name[-end:]}"


def describe_marks(ranking: "Ranking") -> str:
    """Return the legend of the marks that occur."""
    used = {mark for ranked in ranking.methods for mark in ranked.marks}
    return "; ".join(meaning for mark, meaning in LEGEND.items() if mark in used)


def make_train_command(data: str, comparison: "Comparison", ranking: "Ranking", options: dict[str, Any]) -> str:
    """Return the command that trains the best method, other than the majority, with its parameters on DATA."""
    from bagwise.evaluation.comparison import MAJORITY

    best = next((name for name in ranking.names if name != MAJORITY), ranking.names[0])
    plan = comparison.plan
    folder = Path("runs") / "-".join(best.replace("+", " ").split())
    words = ["bagwise", "train", data, str(folder), "--method", best]
    for flag, values in (("--method-option", plan["methods"][best]), ("--data-option", options)):
        words += [word for pair in format_options(values) for word in (flag, pair)]
    words += ["--positive", str(plan["positive"])] if plan.get("positive") is not None else []
    words += [] if plan["grouped"] else ["--ungrouped"]
    return shlex.join(words)


def describe_omissions(plan: dict[str, Any]) -> str:
    """State what the comparison did that ``bagwise train`` does not; empty if there is nothing.

    >>> describe_omissions({"selection": {}, "adjust": [], "ensemble": 3})
    'This command trains one model without the ensemble of 3.'
    """
    omitted = [
        "the selected parameters" if plan["selection"] else "",
        f"the learned {' and '.join(plan['adjust'])}" if plan["adjust"] else "",
        f"the ensemble of {plan['ensemble']}" if plan["ensemble"] > 1 else "",
    ]
    listed = ", ".join(filter(None, omitted))
    return f"This command trains one model without {listed}." if listed else ""


def format_options(options: dict[str, Any]) -> list[str]:
    """Format options as NAME=VALUE; the inverse of ``read_options``.

    >>> format_options({"n_bags": 50, "label": "active", "code": "7", "balanced": True})
    ['n_bags=50', 'label=active', 'code="7"', 'balanced=true']
    """
    return [_format_option(name, value) for name, value in options.items() if value is not None]


def _format_option(name: str, value: Any) -> str:
    plain = f"{name}={value}"
    if isinstance(value, str) and read_options([plain])[name] == value:
        return plain
    return f"{name}={json.dumps(value, ensure_ascii=False, default=str)}"


def describe_errors(scores: dict[str, Any]) -> str:
    """Describe what stands behind the first metric of a table."""
    kinds = {own.errors.interval_by for metrics in scores.values() for own in metrics.values()}
    if "bootstrap" in kinds:
        return "mean over fits, with a 95 % bootstrap interval over test bags"
    return "mean ± corrected standard error over folds"


def _format_mean(errors: Any) -> str:
    return "n/a" if errors.mean is None else f"{errors.mean:.3f}"


def _format_score(errors: Any) -> str:
    if errors.mean is None:
        return "n/a"
    if errors.interval_by == "bootstrap":
        from bagwise.report import format_interval

        return f"{errors.mean:.3f} ({format_interval(errors.interval)})"
    if errors.corrected_error is None:
        return f"{errors.mean:.3f}"
    return f"{errors.mean:.3f} ± {errors.corrected_error:.3f}"
