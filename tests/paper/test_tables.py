from bagwise.paper.published import Published
from bagwise.paper.recipes import RECIPES
from bagwise.paper.results import Result
from bagwise.paper.tables import markdown, tables

FAR = Result("table1", "attention", "musk1", Published(0.892, 0.04), 0.8, 0.01, 0.02, 5, 50)
OWN = Result("table1", "naive", "musk1", None, 0.85, None, None, 1, 10)


def test_ours_stand_beside_the_papers_and_what_does_not_meet_is_bold():
    page = markdown(RECIPES["table1"], [FAR, OWN])
    assert "| attention | **0.800±0.020** / 0.892±0.040 (−0.092) |" in page
    assert "| naive | 0.850 |" in page
    assert "musk1 (1–5×)" in page


def test_a_cell_that_was_not_run_is_empty():
    page = markdown(RECIPES["table1"], [FAR, OWN._replace(column="fox")])
    assert "| naive |  | 0.850 |" in page


def test_a_part_is_called_one():
    assert "| attention | 0.800±0.020 (part) / 0.892±0.040 (−0.092) |" in markdown(
        RECIPES["table1"], [FAR._replace(complete=False)]
    )


def test_columns_that_are_numbers_stand_by_their_size():
    results = [OWN._replace(table="mnist-bags-10", column=column) for column in ("500", "50", "100")]
    assert tables(results)[0].columns == ["50", "100", "500"]
