"""A comparison → one HTML page that stands alone: scores with their errors, folds as boxes, pairwise differences."""

from pathlib import Path

from markupsafe import Markup
from matplotlib.figure import Figure

from bagwise import figures
from bagwise.comparing import Comparison
from bagwise.comparing.comparison import PARTS
from bagwise.comparing.tables import difference_rows, shown_metrics
from bagwise.evaluation.cross_validation import metric_values
from bagwise.evaluation.one_test_set import share_test_bags
from bagwise.files import atomic
from bagwise.metric_names import METRICS
from bagwise.report.templating import fill_template

PAGE = "comparison.html"
BOXES = ("accuracy", "auc")


def write_comparison_page(comparison: Comparison) -> Path:
    """Write the page into the comparison's folder, and say where."""
    path = comparison.folder / PAGE
    page = fill_template(
        "comparison.html.j2",
        name=comparison.folder.resolve().name,
        plan=comparison.plan,
        data=Path(comparison.plan["data"]).name,
        scores=comparison.scores,
        parts=[(words, shown_metrics(part), comparison.part(part)) for part, words in PARTS.items()],
        units=comparison.units,
        metric_words=METRICS,
        one_test_set=all(map(share_test_bags, comparison.units.values())),
        n_folds=1 + max(unit["fold"] for units in comparison.units.values() for unit in units),
        grouped=any("groups" in unit["predictions"]["bags"] for units in comparison.units.values() for unit in units),
        boxes=[_boxes(comparison, metric) for metric in BOXES],
        differences={metric: difference_rows(comparison, metric) for metric in BOXES},
    )
    with atomic(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return path


def _boxes(comparison: Comparison, metric: str) -> Markup:
    title = METRICS[metric][0]
    values = {method: metric_values(units, metric) for method, units in comparison.units.items()}
    with figures.styled():
        figure = Figure(figsize=(6.4, 0.9 + 0.36 * len(values)), layout="constrained")
        figures.draw_box_plot(figure.subplots(), values, title)
        words = f"{title} of every fold for each method; the larger dot is the mean, the box the middle half."
        return Markup(figures.svg_text(figure, f"boxes-{metric}", f"{title} by method", words))
