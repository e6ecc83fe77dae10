"""Tables of a comparison: rows for csv files and the terminal, and a LaTeX table."""

from collections.abc import Sequence
from typing import Any

from bagwise.evaluation.comparison.comparison_folder import PARTS, Comparison
from bagwise.evaluation.comparison.ranking import Ranking
from bagwise.evaluation.cross_validation import PREDICTED_PARTS, Scores
from bagwise.targets import KEY_METRICS, find_best

SHOWN_KEY_METRICS = ("auc", "average_precision", "top_1", "top_k")

Row = dict[str, Any]

LATEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "&": r"\&",
    "%": r"\%",
    "_": r"\_",
    "#": r"\#",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
}


def choose_metrics(comparison: Comparison, part: str, first: str | None = None) -> dict[str, str]:
    """Return the metrics of a part that are shown in tables.

    Parameters
    ----------
    comparison : Comparison
    part : {"bags", "groups", "weights", "scores"}
        See ``PARTS``.
    first : str or None, default=None
        Metric of bags and groups that comes first; None for the order of the target.

    Returns
    -------
    dict of str to str
        Title of each metric, by name.
    """
    if part in PREDICTED_PARTS:
        names = dict.fromkeys([*([] if first is None else [first]), *comparison.target.main_metrics])
        return {name: comparison.target.metrics[name].title for name in names}
    return {name: KEY_METRICS[name].title for name in SHOWN_KEY_METRICS}


def make_score_rows(comparison: Comparison, ranking: Ranking | None = None) -> list[Row]:
    """Make one row per part, method and metric, with all standard errors.

    Parameters
    ----------
    comparison : Comparison
    ranking : Ranking or None, default=None
        If given, the rows of its metric of bags have the rank of the method in additional columns at the end.

    Returns
    -------
    list of dict
    """
    return [
        {
            **_make_score_row(comparison, part, method, name, scores),
            **({} if ranking is None else _make_rank_columns(ranking, part, method, name)),
        }
        for part in PARTS
        for method, metrics in comparison.part(part).items()
        for name, scores in metrics.items()
    ]


def _make_score_row(comparison: Comparison, part: str, method: str, name: str, scores: Scores) -> Row:
    units = comparison.units[method]
    low, high = scores.errors.interval or (None, None)
    return {
        "of": part,
        "method": method,
        "metric": name,
        "n_fits": len(units),
        **{key: value for key, value in scores.errors._asdict().items() if key != "interval"},
        "interval_low": low,
        "interval_high": high,
        "pooled": scores.pooled,
        "fit_seconds": sum(unit["seconds"]["fit"] for unit in units),
        **_make_warning_column(comparison),
    }


def _make_warning_column(comparison: Comparison) -> Row:
    return {"warning": "; ".join(comparison.warnings)} if comparison.warnings else {}


def _make_rank_columns(ranking: Ranking, part: str, method: str, metric: str) -> Row:
    """Return the columns of the rank; None in the rows of other metrics and parts."""
    names = ("rank", "is_best", "is_distinguishable", "p_value_corrected", "beats_majority")
    if part != "bags" or metric != ranking.metric.name:
        return dict.fromkeys(names)
    rank = ranking.names.index(method)
    ranked = ranking.methods[rank]
    values = (1 + rank, ranked.is_best, ranked.is_distinguishable, ranked.p_value, ranked.beats_majority)
    return dict(zip(names, values, strict=True))


def make_difference_rows(comparison: Comparison, metric: str) -> list[Row]:
    """Make one row per pair of methods: the first minus the second.

    Parameters
    ----------
    comparison : Comparison
    metric : str
        Name of a metric of bags.

    Returns
    -------
    list of dict
    """
    rows = []
    for first, second, difference in comparison.differences(metric):
        low, high = difference.interval or (None, None)
        rows.append(
            {
                "first": first,
                "second": second,
                "metric": metric,
                "difference": difference.mean,
                "interval_low": low,
                "interval_high": high,
                "p_value": difference.p_value,
                "n_folds": difference.n_folds,
                **_make_warning_column(comparison),
            }
        )
    return rows


def make_latex_table(comparison: Comparison, metrics: Sequence[str] = ()) -> str:
    """Make a LaTeX table of means ± corrected errors, with the best mean of each metric in bold.

    Parameters
    ----------
    comparison : Comparison
    metrics : sequence of str, default=()
        Names of metrics of bags; empty for the main metrics of the target.

    Returns
    -------
    str
    """
    metrics = metrics or comparison.target.main_metrics
    titles = " & ".join(comparison.target.metrics[name].title for name in metrics)
    best = {name: _find_best_mean(comparison, name) for name in metrics}
    lines = [f"\\begin{{tabular}}{{l{'r' * len(metrics)}}}", r"\hline", f"method & {titles} \\\\", r"\hline"]
    for method, scores in comparison.scores.items():
        cells = [
            _format_cell(scores[name].errors.mean, scores[name].errors.corrected_error, best[name]) for name in metrics
        ]
        lines.append(f"{_escape_latex(method)} & {' & '.join(cells)} \\\\")
    lines += [
        f"\\multicolumn{{{1 + len(metrics)}}}{{l}}{{{_escape_latex(warning)}}} \\\\" for warning in comparison.warnings
    ]
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def _find_best_mean(comparison: Comparison, name: str) -> float | None:
    return find_best(
        comparison.target.metrics[name], (scores[name].errors.mean for scores in comparison.scores.values())
    )


def _format_cell(mean: float | None, error: float | None, best: float | None) -> str:
    if mean is None:
        return "n/a"
    number = f"\\mathbf{{{mean:.3f}}}" if mean == best else f"{mean:.3f}"
    return f"${number}$" if error is None else f"${number} \\pm {error:.3f}$"


def _escape_latex(text: str) -> str:
    return "".join(LATEX_ESCAPES.get(letter, letter) for letter in text)
