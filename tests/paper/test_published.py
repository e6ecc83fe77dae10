import re
from pathlib import Path

import pytest

from bagwise.estimators.registry import METHODS
from bagwise.paper.published import Published, read_published

TABLES = {"table1": 65, "mnist-bags-10": 49, "mnist-bags-50": 49, "mnist-bags-100": 49, "breast": 30, "colon": 30}
PAPER = Path(__file__).parents[3] / "shared" / "paper" / "attention-based-deep-mil.tex"


@pytest.mark.parametrize("table", TABLES)
def test_read_published_has_numbers_of_known_methods(table):
    numbers = read_published(table)
    assert len(numbers) == TABLES[table]
    assert {method for method, _ in numbers} <= METHODS.keys()
    assert all(0.47 < number.mean <= 1 for number in numbers.values())


def test_read_published_has_the_printed_numbers():
    assert read_published("table1")["mi-SVM", "musk1"] == Published(0.874, None)
    assert read_published("mnist-bags-10")["attention", "50"] == Published(0.768, 0.054)
    assert read_published("mnist-bags-100")["embedding+mean", "200"] == Published(0.900, 0.089)
    assert read_published("breast")["gated attention", "auc"] == Published(0.799, 0.020)
    assert read_published("colon")["attention", "f_score"] == Published(0.901, 0.011)


@pytest.mark.skipif(not PAPER.exists(), reason="the source of the paper is not available")
@pytest.mark.parametrize("table", TABLES)
def test_read_published_has_only_numbers_of_the_paper(table):
    printed = re.sub(r"\\textbf\{(.*?)\}", r"\1", PAPER.read_text(encoding="utf-8")).replace(" ", "")
    for number in read_published(table).values():
        error = "N/A" if number.error is None else rf"{number.error:.2f}0?|{number.error:.3f}"
        assert re.search(rf"{number.mean:.3f}\$\\pm\$({error})", printed), number


def test_read_published_rejects_an_unknown_table_by_name():
    with pytest.raises(KeyError, match="no table 'table9'"):
        read_published("table9")
