import re
from pathlib import Path

import pytest

from bagwise.estimators.methods import METHODS
from bagwise.paper.published import Published, published

TABLES = {"table1": 65, "mnist-bags-10": 49, "mnist-bags-50": 49, "mnist-bags-100": 49, "breast": 30, "colon": 30}
PAPER = Path(__file__).parents[3] / "shared" / "paper" / "attention-based-deep-mil.tex"


@pytest.mark.parametrize("table", TABLES)
def test_every_number_stands_for_a_method_of_ours(table):
    found = published(table)
    assert len(found) == TABLES[table]
    assert {method for method, _ in found} <= METHODS.keys()
    assert all(0.5 <= value.mean <= 1 or value.mean > 0.47 for value in found.values())


def test_some_numbers_as_they_are_printed():
    assert published("table1")["mi-SVM", "musk1"] == Published(0.874, None)
    assert published("mnist-bags-10")["attention", "50"] == Published(0.768, 0.054)
    assert published("mnist-bags-100")["embedding+mean", "200"] == Published(0.900, 0.089)
    assert published("breast")["gated attention", "auc"] == Published(0.799, 0.020)
    assert published("colon")["attention", "f_score"] == Published(0.901, 0.011)


@pytest.mark.skipif(not PAPER.exists(), reason="the paper's source is not beside the project")
@pytest.mark.parametrize("table", TABLES)
def test_every_number_is_in_the_paper_as_often_as_here(table):
    printed = re.sub(r"\\textbf\{(.*?)\}", r"\1", PAPER.read_text(encoding="utf-8")).replace(" ", "")
    for value in published(table).values():
        error = "N/A" if value.error is None else rf"{value.error:.2f}0?|{value.error:.3f}"
        assert re.search(rf"{value.mean:.3f}\$\\pm\$({error})", printed), value


def test_a_table_that_is_none_is_an_error():
    with pytest.raises(KeyError, match="no table 'table9'"):
        published("table9")
