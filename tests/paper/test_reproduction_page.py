import csv
import re

import pytest

from bagwise.evaluation.comparison.plan import make_plan
from bagwise.evaluation.comparison.runner import compare_methods
from bagwise.paper.experiments import Recipe, Setting
from bagwise.paper.floors import Bound, Floor
from bagwise.paper.published import Published
from bagwise.paper.recipes import RECIPES
from bagwise.paper.reproduction_page import (
    PAPER_LINES,
    PAPER_POINTS,
    plot_table_lines,
    plot_table_points,
    write_reproduction_page,
    write_results,
)
from bagwise.paper.result_tables import make_tables
from bagwise.paper.results import Result

DIFFERENT = Result(
    table="table1",
    method="attention",
    column="musk1",
    paper=Published(0.892, 0.04),
    mean=0.8,
    repeat_error=0.01,
    fold_error=0.02,
    n_repeats=5,
    n_fits=50,
)
OWN = DIFFERENT._replace(method="naive <b>", column="fox", paper=None, mean=0.85, repeat_error=None, fold_error=None)
DIGITS = DIFFERENT._replace(
    table="mnist-bags-10", column="50", paper=Published(0.768, 0.054), mean=0.75, repeat_error=0.03, fold_error=None
)

PLAN = make_plan("needles", {"naive": {}}, options={"n_bags": 20}, folds=2)
SETTINGS = [Setting(name="one", table="table1", column="musk1", plans=[PLAN])]
RECIPE = Recipe(title="Needles", metric="accuracy", pooled=False, settings=lambda repeats, quick: SETTINGS)


def read_rows(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


def render_page(folder, name, results):
    return write_reproduction_page(folder, RECIPES[name], results).read_text(encoding="utf-8")


def test_write_results_writes_results_pages_and_fits(tmp_path):
    comparison = compare_methods(tmp_path / "one" / "draw-0", PLAN)
    result = write_results(tmp_path, RECIPE, SETTINGS)[0]
    assert f"| naive | {result.mean:.3f}±{result.fold_error:.3f} |" in (tmp_path / "results.md").read_text()
    assert (tmp_path / "results.html").read_text().startswith("<!doctype html>")
    row = read_rows(tmp_path / "results.csv")[0]
    assert (row["method"], row["n_fits"], float(row["ours"])) == ("naive", "2", result.mean)
    fits = read_rows(tmp_path / "fits.csv")
    assert [(fit["setting"], fit["method"], fit["fold"]) for fit in fits] == [
        ("one", "naive", "0"),
        ("one", "naive", "1"),
    ]
    expected = [unit["metrics"]["bags"]["accuracy"] for unit in comparison.units["naive"]]
    assert [float(fit["accuracy"]) for fit in fits] == expected
    assert all(float(fit["fit_seconds"]) > 0 for fit in fits)


def test_write_results_writes_floors(tmp_path):
    setting = SETTINGS[0]._replace(plans=[PLAN._replace(options={"n_bags": 40})])
    compare_methods(tmp_path / "one" / "draw-0", setting.plans[0])
    floor = Floor("accuracy", measure=lambda means: means["naive", "musk1"], bound=Bound(-1.0))
    (result, *_) = write_results(tmp_path, RECIPE._replace(floors=(floor,)), [setting])
    (row,) = read_rows(tmp_path / "floors.csv")
    assert (row["data"], row["n_bags"], float(row["value"]), row["met"]) == ("table1", "40", result.mean, "False")
    assert f"| table1 | 40 | **{result.mean:.3f} ≤ -1: not met** |" in (tmp_path / "results.md").read_text()


def test_write_results_writes_no_floors_if_there_are_none(tmp_path):
    compare_methods(tmp_path / "one" / "draw-0", PLAN)
    write_results(tmp_path, RECIPE, SETTINGS)
    assert not (tmp_path / "floors.csv").exists()
    assert "Floors" not in (tmp_path / "results.md").read_text()


def test_write_reproduction_page_shows_every_number_and_escapes_names(tmp_path):
    page = render_page(tmp_path, "table1", [DIFFERENT, OWN])
    text = re.sub(r"</?(span|small)[^>]*>", "", page)
    assert "<b>0.800</b> ± 0.020<br>0.892 ± 0.040 (−0.092)</td>" in text
    assert "naive &lt;b&gt;" in page
    assert "naive <b>" not in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


@pytest.mark.parametrize(
    "results", [[DIFFERENT, OWN], [DIGITS, DIGITS._replace(column="100", paper=None)], [DIFFERENT, DIGITS]]
)
def test_write_reproduction_page_has_one_figure_per_table(tmp_path, results):
    page = render_page(tmp_path, "mnist-bags", results)
    assert page.count("<svg") == len({result.table for result in results})


@pytest.mark.parametrize(("result", "caption"), [(DIFFERENT, PAPER_POINTS), (DIGITS, PAPER_LINES)])
def test_write_reproduction_page_mentions_the_paper_only_where_it_has_numbers(tmp_path, result, caption):
    for paper in (result.paper, None):
        page = render_page(tmp_path, "mnist-bags", [result._replace(paper=paper)])
        assert (f"{caption}." in page.replace("&#39;", "'")) == (paper is not None)


def test_write_reproduction_page_scales_figures_by_their_columns(tmp_path):
    columns = ["musk1", "musk2", "fox", "tiger", "elephant"]
    widths = []
    for shown in (columns[:1], columns):
        page = render_page(tmp_path, "table1", [DIFFERENT._replace(column=column) for column in shown])
        widths.append(float(re.search(r'style="max-width: ([\d.]+)em"><svg', page)[1]))
    assert widths == pytest.approx([7.2 * 3.0, 7.2 * 9.8], abs=0.05)  # an inch is 7.2 em


@pytest.mark.parametrize(
    ("table", "label"),
    [("mnist-bags-10", "AUC"), ("mnist-bags-10: instances, top-1 of the weights", "top-1 of the weights")],
)
def test_plot_table_lines_labels_the_axes(table, label):
    (found,) = make_tables([DIGITS._replace(table=table)])
    (axes,) = plot_table_lines(found, RECIPES["mnist-bags"]).axes
    assert axes.get_ylabel() == label
    assert axes.get_xlabel() == "training bags"
    (axes,) = plot_table_lines(found, RECIPES["claims"]).axes
    assert axes.get_xlabel() == "hidden units of the attention"


def test_plot_table_points_keeps_the_row_of_a_method_without_a_number():
    kernel = DIFFERENT._replace(method="MI-Kernel", column="fox", mean=0.6)
    results = [DIFFERENT._replace(column="fox", mean=0.5), kernel, kernel._replace(column="musk1", mean=0.7)]
    (table,) = make_tables(results)
    plotted, panels = {}, plot_table_points(table).axes
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    rows = dict(zip(panels[0].get_yticks(), names, strict=True))
    for axes, column in zip(panels, table.columns, strict=True):
        ours = axes.containers[0].lines[0]
        plotted |= {(rows[round(y)], column): x for x, y in zip(*ours.get_data(), strict=True)}
    assert plotted == {("attention", "fox"): 0.5, ("MI-Kernel", "fox"): 0.6, ("MI-Kernel", "musk1"): 0.7}
