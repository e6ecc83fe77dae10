"""The page of a comparison: self-contained HTML with scores, standard errors, box plots and pairwise differences."""

from pathlib import Path

from markupsafe import Markup
from matplotlib.figure import Figure

from bagwise.evaluation import get_metric_values, share_test_bags
from bagwise.evaluation.comparison import PARTS, Comparison, choose_metrics, make_difference_rows
from bagwise.figures import figure_to_svg, plot_boxes, use_style
from bagwise.io import write_atomically
from bagwise.report.page_templates import fill_template

PAGE = "comparison.html"
N_BOX_METRICS = 2  # the first main metrics of the target have a box plot and a table of differences


def list_box_metrics(comparison: Comparison) -> list[str]:
    """List the metrics with a box plot and a table of differences.

    Parameters
    ----------
    comparison : Comparison
        Comparison to show.

    Returns
    -------
    list of str
        The first two main metrics of the target.
    """
    return list(comparison.target.main_metrics[:N_BOX_METRICS])


def write_comparison_page(comparison: Comparison) -> Path:
    """Write comparison.html into the folder of a comparison.

    Parameters
    ----------
    comparison : Comparison
        Comparison to show.

    Returns
    -------
    Path
        The written file.
    """
    path, box_metrics = comparison.folder / PAGE, list_box_metrics(comparison)
    units = [unit for method_units in comparison.units.values() for unit in method_units]
    page = fill_template(
        "comparison.html.j2",
        name=comparison.folder.resolve().name,
        plan=comparison.plan,
        data=Path(comparison.plan["data"]).name,
        scores=comparison.scores,
        parts=[(title, choose_metrics(comparison, part), comparison.part(part)) for part, title in PARTS.items()],
        n_fits={method: len(method_units) for method, method_units in comparison.units.items()},
        metric_titles={name: metric.title for name, metric in comparison.target.metrics.items()},
        box_metrics=box_metrics,
        metrics_note=comparison.target.metrics_note,
        warnings=comparison.warnings,
        one_test_set=all(map(share_test_bags, comparison.units.values())),
        n_folds=1 + max(unit["fold"] for unit in units),
        grouped=any("groups" in unit["predictions"]["bags"] for unit in units),
        boxes=[_render_boxes(comparison, metric) for metric in box_metrics],
        differences={metric: make_difference_rows(comparison, metric) for metric in box_metrics},
    )
    with write_atomically(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def _render_boxes(comparison: Comparison, metric: str) -> Markup:
    title = comparison.target.metrics[metric].title
    values = {method: get_metric_values(units, metric) for method, units in comparison.units.items()}
    with use_style():
        figure = Figure(figsize=(6.4, 0.9 + 0.36 * len(values)), layout="constrained")
        plot_boxes(figure.subplots(), values, title)
        caption = f"{title} of each method in every fold; the larger dot is the mean, the box the interquartile range."
        return Markup(figure_to_svg(figure, f"boxes-{metric}", f"{title} by method", caption))
