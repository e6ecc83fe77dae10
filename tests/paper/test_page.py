import re

import pytest

from bagwise.paper.page import DIAMONDS, THIN_LINES, dots, lines, write_page
from bagwise.paper.published import Published
from bagwise.paper.recipes import RECIPES
from bagwise.paper.results import Result
from bagwise.paper.tables import tables

FAR = Result("table1", "attention", "musk1", Published(0.892, 0.04), 0.8, 0.01, 0.02, 5, 50)
OWN = Result("table1", "naive <b>", "fox", None, 0.85, None, None, 1, 10)
DRAWN = Result("mnist-bags-10", "attention", "50", Published(0.768, 0.054), 0.75, 0.03, None, 5, 5)


def test_every_number_stands_in_the_table_and_words_are_escaped(tmp_path):
    text = write_page(tmp_path, RECIPES["table1"], [FAR, OWN]).read_text(encoding="utf-8")
    words = re.sub(r"</?(span|small)[^>]*>", "", text)
    assert "<b>0.800</b> ± 0.020<br>0.892 ± 0.040 (−0.092)</td>" in words
    assert "naive &lt;b&gt;" in text
    assert "naive <b>" not in text
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org", "")


@pytest.mark.parametrize("results", [[FAR, OWN], [DRAWN, DRAWN._replace(column="100", paper=None)], [FAR, DRAWN]])
def test_every_table_has_its_picture(tmp_path, results):
    text = write_page(tmp_path, RECIPES["mnist-bags"], results).read_text(encoding="utf-8")
    assert text.count("<svg") == len({result.table for result in results})


def test_a_method_without_a_number_keeps_its_row():
    other = FAR._replace(method="MI-Kernel", column="fox", mean=0.6)
    both = [FAR._replace(column="fox", mean=0.5), other, other._replace(column="musk1", mean=0.7)]
    (table,) = tables(both)
    drawn, panels = {}, dots(table).axes
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    rows = dict(zip(panels[0].get_yticks(), names, strict=True))
    for axes, column in zip(panels, table.columns, strict=True):
        ours = axes.containers[0].lines[0]
        drawn |= {(rows[round(y)], column): x for x, y in zip(*ours.get_data(), strict=True)}
    assert drawn == {("attention", "fox"): 0.5, ("MI-Kernel", "fox"): 0.6, ("MI-Kernel", "musk1"): 0.7}


@pytest.mark.parametrize(("result", "words"), [(FAR, DIAMONDS), (DRAWN, THIN_LINES)])
def test_words_speak_of_the_paper_where_it_has_numbers(tmp_path, result, words):
    for paper in (result.paper, None):
        text = write_page(tmp_path, RECIPES["mnist-bags"], [result._replace(paper=paper)]).read_text(encoding="utf-8")
        assert (f"{words}." in text.replace("&#39;", "'")) == (paper is not None)


@pytest.mark.parametrize(
    ("table", "label"),
    [("mnist-bags-10", "AUC"), ("mnist-bags-10: instances, top-1 of the weights", "top-1 of the weights")],
)
def test_lines_say_what_they_measure(table, label):
    (found,) = tables([DRAWN._replace(table=table)])
    (axes,) = lines(found, RECIPES["mnist-bags"]).axes
    assert axes.get_ylabel() == label
    assert axes.get_xlabel() == "training bags"
    (axes,) = lines(found, RECIPES["claims"]).axes
    assert axes.get_xlabel() == "hidden units of the attention"


def test_a_picture_of_few_columns_is_not_blown_up(tmp_path):
    columns = ["musk1", "musk2", "fox", "tiger", "elephant"]
    widths = []
    for asked in (columns[:1], columns):
        results = [FAR._replace(column=column) for column in asked]
        text = write_page(tmp_path, RECIPES["table1"], results).read_text(encoding="utf-8")
        widths.append(float(re.search(r'style="max-width: ([\d.]+)em"><svg', text)[1]))
    assert widths == pytest.approx([7.2 * 3.0, 7.2 * 9.8], abs=0.05)  # an inch is 7.2 em
