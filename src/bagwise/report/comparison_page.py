"""The page of a comparison: self-contained HTML with scores, standard errors, box plots and pairwise differences."""

from pathlib import Path
from typing import Any

from markupsafe import Markup
from matplotlib.figure import Figure

from bagwise.evaluation import get_metric_values, share_test_bags
from bagwise.evaluation.comparison import (
    PARTS,
    Comparison,
    Ranking,
    choose_metrics,
    describe_ranking,
    list_worse_than_majority,
    make_difference_rows,
    rank_methods,
)
from bagwise.figures import figure_to_svg, plot_boxes, use_style
from bagwise.io import write_atomically
from bagwise.report.page_templates import fill_template

PAGE = "comparison.html"
N_BOX_METRICS = 2  # the first main metrics of the target have a box plot and a table of differences


def list_box_metrics(comparison: Comparison, first: str) -> list[str]:
    """List the metrics with a box plot and a table of differences.

    Parameters
    ----------
    comparison : Comparison
        Comparison to show.
    first : str
        The metric by which the methods are sorted.

    Returns
    -------
    list of str
        This metric, and the first two main metrics of the target.
    """
    return list(dict.fromkeys([first, *comparison.target.main_metrics[:N_BOX_METRICS]]))


def write_comparison_page(comparison: Comparison, ranking: Ranking | None = None) -> Path:
    """Write comparison.html into the folder of a comparison.

    Parameters
    ----------
    comparison : Comparison
        Comparison to show.
    ranking : Ranking or None, default=None
        Order of the methods; None ranks them by the first headline metric of the target.

    Returns
    -------
    Path
        The written file.
    """
    ranking = rank_methods(comparison) if ranking is None else ranking
    path, box_metrics = comparison.folder / PAGE, list_box_metrics(comparison, ranking.metric.name)
    units = [unit for method_units in comparison.units.values() for unit in method_units]
    page = fill_template(
        "comparison.html.j2",
        name=comparison.folder.resolve().name,
        plan=comparison.plan,
        data=Path(comparison.plan["data"]).name,
        scores={name: comparison.scores[name] for name in ranking.names},
        ranking=ranking,
        conclusion=describe_ranking(ranking),
        worse_than_majority=list_worse_than_majority(comparison),
        parts=[
            (title, choose_metrics(comparison, part, ranking.metric.name), _sort_scores(comparison.part(part), ranking))
            for part, title in PARTS.items()
        ],
        marks={ranked.method: ranked for ranked in ranking.methods},
        n_fits={method: len(method_units) for method, method_units in comparison.units.items()},
        metric_titles={name: metric.title for name, metric in comparison.target.metrics.items()},
        box_metrics=box_metrics,
        metrics_note=comparison.target.metrics_note,
        warnings=comparison.warnings,
        one_test_set=all(map(share_test_bags, comparison.units.values())),
        n_folds=1 + max(unit["fold"] for unit in units),
        grouped=any("groups" in unit["predictions"]["bags"] for unit in units),
        boxes=[_render_boxes(comparison, ranking, metric) for metric in box_metrics],
        differences={metric: make_difference_rows(comparison, metric) for metric in box_metrics},
    )
    with write_atomically(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def _sort_scores(scores: dict[str, Any], ranking: Ranking) -> dict[str, Any]:
    return {name: scores[name] for name in ranking.names if name in scores}


def _render_boxes(comparison: Comparison, ranking: Ranking, metric: str) -> Markup:
    title = comparison.target.metrics[metric].title
    values = {method: get_metric_values(comparison.units[method], metric) for method in ranking.names}
    with use_style():
        figure = Figure(figsize=(6.4, 0.9 + 0.36 * len(values)), layout="constrained")
        plot_boxes(figure.subplots(), values, title)
        caption = f"{title} of each method in every fold; the larger dot is the mean, the box the interquartile range."
        return Markup(figure_to_svg(figure, f"boxes-{metric}", f"{title} by method", caption))
