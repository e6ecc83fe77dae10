"""The figures of a report: inline SVG with a title and a caption, or the reason why there is no figure."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bagwise.figures import (
    figure_to_svg,
    plot_calibration,
    plot_confusion,
    plot_learning_curves,
    plot_precision_recall,
    plot_probability_histogram,
    plot_roc,
    shorten_text,
    use_style,
)
from bagwise.io import JsonObject
from bagwise.report.page_templates import format_number
from bagwise.targets import CalibrationBins, PrecisionRecallPoints, RocPoints

FIGURE_SIZE = (3.6, 3.0)  # inches; a page shows three side by side


class ReportFigure(NamedTuple):
    """A figure of the page; if ``svg`` is None, the caption gives the reason."""

    title: str
    caption: str
    svg: Markup | None


class CurveKind(NamedTuple):
    """A kind of curve, of which there is one per class, and its texts."""

    name: str  # key in the summary
    title: str
    area: str  # name of the metric that is the area under the curve
    area_titles: tuple[str, str]  # for one curve and for several
    dashed: str  # meaning of the dashed line
    undefined: str  # reason why there may be no curve
    points: Callable[..., Any]
    plot: Callable[[Axes, Any], Axes]


ROC = CurveKind(
    name="roc",
    title="ROC curve",
    area="auc",
    area_titles=("AUC", "Mean AUC"),
    dashed="the dashed diagonal is chance",
    undefined="all test bags are of one class",
    points=RocPoints,
    plot=plot_roc,
)
PRECISION_RECALL = CurveKind(
    name="precision_recall",
    title="Precision and recall",
    area="average_precision",
    area_titles=("Average precision", "Mean average precision"),
    dashed="the dashed line is the share of positive bags",
    undefined="no test bag is positive",
    points=PrecisionRecallPoints,
    plot=plot_precision_recall,
)


def _render_curves(kind: CurveKind, summary: JsonObject) -> ReportFigure:
    curves = [
        (_make_curve_label(curve, kind.area), kind.points(**_to_arrays(curve["points"])))
        for curve in summary[kind.name]
        if curve["points"] is not None
    ]
    if not curves:
        return ReportFigure(title=kind.title, caption=f"Undefined: {kind.undefined}.", svg=None)
    area_title = kind.area_titles[len(summary[kind.name]) > 1]
    caption = f"{area_title} {format_number(summary['metrics'][kind.area]['value'])}; {kind.dashed}."
    return _render(kind.name.replace("_", "-"), kind.title, caption, lambda axes: kind.plot(axes, curves))


def _render_roc(summary: JsonObject) -> ReportFigure:
    return _render_curves(ROC, summary)


def _render_precision_recall(summary: JsonObject) -> ReportFigure:
    return _render_curves(PRECISION_RECALL, summary)


def _make_curve_label(curve: JsonObject, area: str) -> str:
    """Return the label of a curve; the number is first: matplotlib hides labels that begin with an underscore."""
    return f"{format_number(curve[area])} {shorten_text(curve['class'])}"


def _render_confusion(summary: JsonObject) -> ReportFigure:
    counts, classes = np.array(summary["confusion"]), summary["metadata"]["outputs"]
    caption = (
        f"{np.trace(counts)} of {counts.sum()} bags are classified correctly; colours and percentages are shares of "
        "the true class."
    )
    return _render("confusion", "Confusion matrix", caption, lambda axes: plot_confusion(axes, counts, classes))


def _render_learning_curves(summary: JsonObject) -> ReportFigure | None:
    title, network = "Learning curves", summary["metadata"]["network"]
    if network is None:
        return None
    best = network["best_epoch"]
    if network["averaged_epochs"]:
        caption = f"The parameters are the average of the last {network['averaged_epochs']} epochs."
    elif network["validated"]:
        caption = f"The parameters of epoch {best} (dashed) were kept: it has the lowest validation error + loss."
    else:
        caption = f"The parameters of epoch {best} (dashed) were kept: it is the last, and no bags chose the epoch."
    if network["networks"] > 1:
        caption += f" Losses and errors are averages over {network['networks']} networks, one per fold."
    history = {name: np.array(values, dtype=float) for name, values in summary["history"].items()}
    return _render("learning", title, caption, lambda axes: plot_learning_curves(axes, history, best))


def _render_calibration(summary: JsonObject) -> ReportFigure:
    bins = CalibrationBins(**_to_arrays(summary["calibration"]))
    lowest = 1 / len(summary["metadata"]["outputs"])
    error = format_number(summary["metrics"]["calibration_error"]["value"])
    caption = (
        f"Calibration error {error}; larger points are bins with more bags, and points on the diagonal are perfectly "
        "calibrated."
    )
    return _render("calibration", "Calibration", caption, lambda axes: plot_calibration(axes, bins, lowest))


def _render_histogram(summary: JsonObject) -> ReportFigure:
    edges, x_label, counts = (summary["probabilities"][name] for name in ("edges", "x_label", "counts"))
    bars = [(shorten_text(label, 20), np.array(values)) for label, values in counts.items()]

    def plot(axes: Axes) -> Axes:
        return plot_probability_histogram(axes, np.array(edges), bars, shorten_text(x_label, 40))

    return _render("histogram", "Predicted probabilities", "Number of test bags by predicted probability.", plot)


SECTION_FIGURES: dict[str, Callable[[JsonObject], ReportFigure | None]] = {  # by the keys that a target names
    "roc": _render_roc,
    "precision_recall": _render_precision_recall,
    "confusion": _render_confusion,
    "learning": _render_learning_curves,
    "calibration": _render_calibration,
    "histogram": _render_histogram,
}


def render_figures(summary: JsonObject) -> list[ReportFigure]:
    """Render the figures of the page: those of the sections that the target names, if the run has them."""
    with use_style():
        figures = [SECTION_FIGURES[key](summary) for key in summary["metadata"]["sections"]]
    return [figure for figure in figures if figure is not None]


def _render(name: str, title: str, caption: str, plot: Callable[[Axes], Any]) -> ReportFigure:
    figure = Figure(figsize=FIGURE_SIZE, layout="constrained")
    plot(figure.subplots())
    return ReportFigure(title=title, caption=caption, svg=Markup(figure_to_svg(figure, name, title, caption)))


def _to_arrays(lists: dict[str, list[float]]) -> dict[str, np.ndarray]:
    return {name: np.array(values) for name, values in lists.items()}
