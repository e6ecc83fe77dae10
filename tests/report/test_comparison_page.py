import re

from bagwise.comparing import compare
from bagwise.comparing.plan import make_plan
from bagwise.report.comparison_page import write_comparison_page


def test_the_page_stands_alone_and_shows_every_method_and_pair(tmp_path):
    methods = {"naive": {}, "extra trees": {}}
    comparison = compare(tmp_path / "one", make_plan("needles", methods, options={"n_bags": 20}, folds=2))
    page = write_comparison_page(comparison).read_text()
    assert not re.search(r"(src|href)=.https?:", page)
    assert "<script" not in page
    for name, scores in comparison.scores.items():
        assert name in page
        assert f"{scores['accuracy'].errors.mean:.3f}" in page
    assert page.count("<svg") == 2
    assert "2 methods on needles" in page
