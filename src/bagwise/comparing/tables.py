"""A comparison as tables: rows for people and for csv, and a table for LaTeX."""

from typing import Any

from bagwise.comparing.comparison import PARTS, Comparison
from bagwise.evaluation.cross_validation import Scores
from bagwise.metric_names import KEY_METRICS, METRICS

SHOWN = ("accuracy", "auc", "f_score", "log_loss")
KEY_SHOWN = ("auc", "average_precision", "top_1", "top_k")

Row = dict[str, Any]

SPECIAL = {
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


def score_rows(comparison: Comparison) -> list[Row]:
    """A row for each part, method and metric, with every error under its name."""
    return [
        _score_row(comparison, part, method, name, scores)
        for part in PARTS
        for method, metrics in comparison.part(part).items()
        for name, scores in metrics.items()
    ]


def shown_metrics(part: str) -> dict[str, str]:
    """The metrics of a part that tables show, with their titles."""
    names, words = (SHOWN, METRICS) if part in ("bags", "groups") else (KEY_SHOWN, KEY_METRICS)
    return {name: words[name][0] for name in names}


def _score_row(comparison: Comparison, part: str, method: str, name: str, scores: Scores) -> Row:
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
    }


def difference_rows(comparison: Comparison, metric: str) -> list[Row]:
    """A row for each pair of methods, the first minus the second."""
    rows = []
    for first, second, difference in comparison.differences(metric):
        low, high = difference.interval or (None, None)
        row = {"first": first, "second": second, "metric": metric, "difference": difference.mean, "interval_low": low}
        rows.append({**row, "interval_high": high, "p_value": difference.p_value, "n_folds": difference.n_folds})
    return rows


def latex_table(comparison: Comparison, metrics: tuple[str, ...] = SHOWN) -> str:
    """Mean ± corrected error of the chosen metrics, the best mean of each in bold."""
    titles = " & ".join(METRICS[name][0] for name in metrics)
    best = {name: _best(comparison, name) for name in metrics}
    lines = [f"\\begin{{tabular}}{{l{'r' * len(metrics)}}}", r"\hline", f"method & {titles} \\\\", r"\hline"]
    for method, scores in comparison.scores.items():
        cells = [_cell(scores[name].errors.mean, scores[name].errors.corrected_error, best[name]) for name in metrics]
        lines.append(f"{_escaped(method)} & {' & '.join(cells)} \\\\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def _best(comparison: Comparison, name: str) -> float | None:
    means = [scores[name].errors.mean for scores in comparison.scores.values()]
    known = [mean for mean in means if mean is not None]
    choose = min if "less is better" in METRICS[name][1] else max
    return choose(known) if known else None


def _cell(mean: float | None, error: float | None, best: float | None) -> str:
    if mean is None:
        return "n/a"
    number = f"\\mathbf{{{mean:.3f}}}" if mean == best else f"{mean:.3f}"
    return f"${number}$" if error is None else f"${number} \\pm {error:.3f}$"


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in text)
