"""A run → one HTML page that stands alone: no script, no network, light or dark as the reader's screen is.

summarise → plain dictionary → figures as inline SVG → templates/report.html.j2.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bagwise import figures
from bagwise.figures.calibration import CalibrationBins
from bagwise.figures.precision_recall import PrecisionRecallPoints
from bagwise.figures.roc import RocPoints
from bagwise.figures.style import shortened
from bagwise.files import atomic
from bagwise.runs import Run
from bagwise.summary import Plain, summarise

FIGURE_SIZE = (3.6, 3.0)  # inches; a page shows three side by side

# title and meaning of each metric, in the order of the page
METRICS = {
    "auc": ("AUC", "chance that a positive bag outranks a negative one"),
    "average_precision": ("Average precision", "area under the precision-recall curve"),
    "accuracy": ("Accuracy", "share of bags classified right"),
    "precision": ("Precision", "share of the alarms that are right"),
    "recall": ("Recall", "share of the positive bags that are found"),
    "f_score": ("F-score", "harmonic mean of precision and recall"),
    "log_loss": ("Log loss", "mean −log probability of the true class; less is better"),
    "brier": ("Brier score", "mean squared error of the probabilities; less is better"),
    "calibration_error": ("Calibration error", "mean gap between confidence and accuracy; less is better"),
}
KEY_METRICS = {
    "auc": ("AUC", "chance that a key instance outranks another of its bag"),
    "average_precision": ("Average precision", "of the ranking of instances within a bag"),
    "top_1": ("Top-1", "share of bags whose first instance is a key instance"),
}


class Drawing(NamedTuple):
    """A figure of the page: inline SVG, or None with the reason where there is nothing to draw."""

    title: str
    caption: str
    svg: Markup | None


def write_report(run: Run, path: Path | None = None) -> Path:
    """Write the report of a run, by default as report.html in its folder, and say where."""
    path = run.folder / "report.html" if path is None else path
    page = render(summarise(run))
    with atomic(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return path


def render(summary: Plain) -> str:
    """The page of a summary."""
    environment = Environment(
        loader=PackageLoader("bagwise", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "share": share, "interval": interval}
    page = environment.get_template("report.html.j2")
    words = {"metric_words": METRICS, "key_metric_words": KEY_METRICS}
    return page.render(**summary, **words, drawings=draw_figures(summary))


def draw_figures(summary: Plain) -> list[Drawing]:
    """Every figure of the page."""
    makers: list[Callable[[Plain], Drawing]] = [
        _roc,
        _precision_recall,
        _confusion,
        _learning,
        _calibration,
        _histogram,
    ]
    with figures.styled():
        return [maker(summary) for maker in makers]


def number(value: float | None, digits: int = 3) -> str:
    """A metric as words.

    >>> number(0.97), number(None)
    ('0.970', 'n/a')
    """
    return "n/a" if value is None else f"{value:.{digits}f}"


def share(value: float, digits: int = 3) -> str:
    """A probability or weight, which is written as 0 or 1 only when it is just that.

    >>> share(0.9999), share(0.0002), share(1.0), share(0.25)
    ('>0.999', '<0.001', '1', '0.250')
    """
    least = 10**-digits
    if value in (0, 1):
        return str(int(value))
    if value < least / 2:
        return f"<{least:.{digits}f}"
    return f">{1 - least:.{digits}f}" if value > 1 - least / 2 else f"{value:.{digits}f}"


def interval(bounds: list[float] | None, digits: int = 3) -> str:
    """Both ends of an interval, or n/a."""
    return "n/a" if bounds is None else f"{bounds[0]:.{digits}f} – {bounds[1]:.{digits}f}"


def _drawing(name: str, title: str, caption: str, draw: Callable[[Axes], Any]) -> Drawing:
    figure = Figure(figsize=FIGURE_SIZE, layout="constrained")
    draw(figure.subplots())
    return Drawing(title, caption, Markup(figures.svg_text(figure, name, title, caption)))


def _roc(summary: Plain) -> Drawing:
    curves = [
        (_called(curve, "auc"), RocPoints(**_arrays(curve["points"])))
        for curve in summary["roc"]
        if curve["points"] is not None
    ]
    title = "ROC curve"
    if not curves:
        return Drawing(title, "Not defined: all test bags are of one class.", None)
    area = "AUC" if len(summary["roc"]) == 1 else "Mean AUC"
    caption = f"{area} {number(summary['metrics']['auc']['value'])}; the dashed diagonal is chance."
    return _drawing("roc", title, caption, lambda axes: figures.draw_roc(axes, curves))


def _precision_recall(summary: Plain) -> Drawing:
    curves = [
        (_called(curve, "average_precision"), PrecisionRecallPoints(**_arrays(curve["points"])))
        for curve in summary["precision_recall"]
        if curve["points"] is not None
    ]
    title = "Precision and recall"
    if not curves:
        return Drawing(title, "Not defined: no test bag is positive.", None)
    area = "Average precision" if len(summary["precision_recall"]) == 1 else "Mean average precision"
    value = number(summary["metrics"]["average_precision"]["value"])
    caption = f"{area} {value}; dashed: the share of positive bags."
    return _drawing("precision-recall", title, caption, lambda axes: figures.draw_precision_recall(axes, curves))


def _confusion(summary: Plain) -> Drawing:
    counts, classes = np.array(summary["confusion"]), summary["facts"]["classes"]
    caption = f"{np.trace(counts)} of {counts.sum()} bags are right; colour and per cent are shares of the true class."
    return _drawing("confusion", "Confusion", caption, lambda axes: figures.draw_confusion(axes, counts, classes))


def _learning(summary: Plain) -> Drawing:
    title, facts = "Learning curves", summary["facts"]
    if not summary["history"]:
        return Drawing(title, "This method does not learn in epochs.", None)
    chosen = "the least validation error + loss" if facts["validated"] else "the last, as there were no validation bags"
    caption = f"Kept were the weights of epoch {facts['best_epoch']} (dashed): {chosen}."
    history = {name: np.array(values, dtype=float) for name, values in summary["history"].items()}
    best = facts["best_epoch"]
    return _drawing("learning", title, caption, lambda axes: figures.draw_learning_curves(axes, history, best))


def _calibration(summary: Plain) -> Drawing:
    bins = CalibrationBins(**_arrays(summary["calibration"]))
    lowest = 1 / len(summary["facts"]["classes"])
    error = number(summary["metrics"]["calibration_error"]["value"])
    caption = f"Calibration error {error}; larger dots hold more bags, and dots on the diagonal keep their word."
    return _drawing("calibration", "Calibration", caption, lambda axes: figures.draw_calibration(axes, bins, lowest))


def _histogram(summary: Plain) -> Drawing:
    edges, across, counts = (summary["probabilities"][name] for name in ("edges", "across", "counts"))
    bars = [(shortened(label, 20), np.array(values)) for label, values in counts.items()]

    def draw(axes: Axes) -> Axes:
        return figures.draw_probability_histogram(axes, np.array(edges), bars, shortened(across, 40))

    return _drawing("histogram", "How sure it is", "Numbers of test bags by predicted probability.", draw)


def _called(curve: Plain, area: str) -> str:
    """The label of a curve; the number stands first, because matplotlib hides labels that begin with an underscore."""
    return f"{number(curve[area])} {shortened(curve['class'])}"


def _arrays(lists: dict[str, list[float]]) -> dict[str, np.ndarray]:
    return {name: np.array(values) for name, values in lists.items()}
