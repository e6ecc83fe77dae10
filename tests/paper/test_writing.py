import csv

from bagwise.paper.published import Published
from bagwise.paper.recipes import RECIPES
from bagwise.paper.results import Result
from bagwise.paper.writing import write_results


def test_numbers_and_page_are_written(tmp_path):
    result = Result("table1", "attention", "musk1", Published(0.892, 0.04), 0.88, 0.01, 0.02, 5, 50)
    page = write_results(tmp_path, RECIPES["table1"], [result])
    assert "0.880±0.020 / 0.892±0.040" in page.read_text(encoding="utf-8")
    with (tmp_path / "results.csv").open() as stream:
        (row,) = csv.DictReader(stream)
    assert (row["ours"], row["paper"], row["n_fits"], row["intervals_meet"]) == ("0.88", "0.892", "50", "True")
