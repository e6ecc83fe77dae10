import pytest

from bagwise.paper.published import Published
from bagwise.paper.recipes import RECIPES
from bagwise.paper.result_tables import describe_legend, make_tables, render_markdown
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
OWN = DIFFERENT._replace(
    method="naive", paper=None, mean=0.85, repeat_error=None, fold_error=None, n_repeats=1, n_fits=10
)


def test_render_markdown_shows_our_numbers_next_to_the_papers():
    page = render_markdown(RECIPES["table1"], [DIFFERENT, OWN])
    assert "| attention | **0.800±0.020** / 0.892±0.040 (−0.092) |" in page
    assert "| naive | 0.850 |" in page
    assert "musk1 (1–5×)" in page


def test_render_markdown_leaves_missing_cells_empty():
    page = render_markdown(RECIPES["table1"], [DIFFERENT, OWN._replace(column="fox")])
    assert "| naive |  | 0.850 |" in page


def test_render_markdown_marks_incomplete_numbers():
    page = render_markdown(RECIPES["table1"], [DIFFERENT._replace(complete=False)])
    assert "| attention | 0.800±0.020 (incomplete) / 0.892±0.040 (−0.092) |" in page


@pytest.mark.parametrize("name", RECIPES)
def test_describe_legend_explains_pooled_metrics_where_there_are_any(name):
    assert ("all folds of a repeat together" in describe_legend(RECIPES[name])) == RECIPES[name].pooled


def test_describe_legend_prefers_that_of_the_recipe():
    recipe = RECIPES["table1"]._replace(legend="A legend.")
    assert describe_legend(recipe) == "A legend."


def test_make_tables_sorts_numeric_columns():
    results = [OWN._replace(table="mnist-bags-10", column=column) for column in ("500", "50", "100")]
    assert make_tables(results)[0].columns == ["50", "100", "500"]
