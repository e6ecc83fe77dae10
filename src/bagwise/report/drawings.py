"""The figures of the page: a summary → inline SVG with a title and a caption, or the reason why there is none."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bagwise import figures
from bagwise.curves import CalibrationBins, PrecisionRecallPoints, RocPoints
from bagwise.figures.style import shortened
from bagwise.report.words import number
from bagwise.summary import Plain

FIGURE_SIZE = (3.6, 3.0)  # inches; a page shows three side by side


class Drawing(NamedTuple):
    """A figure of the page: inline SVG, or None with the reason where there is nothing to draw."""

    title: str
    caption: str
    svg: Markup | None


class CurveKind(NamedTuple):
    """Curves of one kind, one a class, and what the page says of them."""

    name: str  # in the summary
    title: str
    area: str  # the metric that is the area below a curve
    area_words: tuple[str, str]  # of one curve, and of several
    dashed: str
    undefined: str
    points: Callable[..., Any]
    draw: Callable[[Axes, Any], Axes]


ROC = CurveKind(
    "roc",
    title="ROC curve",
    area="auc",
    area_words=("AUC", "Mean AUC"),
    dashed="the dashed diagonal is chance",
    undefined="all test bags are of one class",
    points=RocPoints,
    draw=figures.draw_roc,
)
PRECISION_RECALL = CurveKind(
    "precision_recall",
    title="Precision and recall",
    area="average_precision",
    area_words=("Average precision", "Mean average precision"),
    dashed="dashed: the share of positive bags",
    undefined="no test bag is positive",
    points=PrecisionRecallPoints,
    draw=figures.draw_precision_recall,
)


def draw_figures(summary: Plain) -> list[Drawing]:
    """Every figure of the page."""
    makers: list[Callable[[Plain], Drawing]] = [
        partial(_curves, ROC),
        partial(_curves, PRECISION_RECALL),
        _confusion,
        _learning,
        _calibration,
        _histogram,
    ]
    with figures.styled():
        return [maker(summary) for maker in makers]


def _drawing(name: str, title: str, caption: str, draw: Callable[[Axes], Any]) -> Drawing:
    figure = Figure(figsize=FIGURE_SIZE, layout="constrained")
    draw(figure.subplots())
    return Drawing(title, caption, Markup(figures.svg_text(figure, name, title, caption)))


def _curves(kind: CurveKind, summary: Plain) -> Drawing:
    curves = [
        (_called(curve, kind.area), kind.points(**_arrays(curve["points"])))
        for curve in summary[kind.name]
        if curve["points"] is not None
    ]
    if not curves:
        return Drawing(kind.title, f"Not defined: {kind.undefined}.", None)
    words = kind.area_words[len(summary[kind.name]) > 1]
    caption = f"{words} {number(summary['metrics'][kind.area]['value'])}; {kind.dashed}."
    return _drawing(kind.name.replace("_", "-"), kind.title, caption, lambda axes: kind.draw(axes, curves))


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
