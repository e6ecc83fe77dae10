import re

from bagwise.evaluation.comparison.plan import make_plan
from bagwise.evaluation.comparison.runner import compare_methods
from bagwise.report.comparison_page import write_comparison_page


def test_write_comparison_page_is_self_contained_and_shows_every_method(tmp_path):
    methods = {"naive": {}, "extra trees": {}}
    comparison = compare_methods(tmp_path / "one", make_plan("needles", methods, options={"n_bags": 20}, folds=2))
    page = write_comparison_page(comparison).read_text()
    assert not re.search(r"(src|href)=.https?:", page)
    assert "<script" not in page
    for name, scores in comparison.scores.items():
        assert name in page
        assert f"{scores['accuracy'].errors.mean:.3f}" in page
    assert page.count("<svg") == 2
    assert "2 methods on needles" in page


def test_write_comparison_page_states_how_intervals_are_computed(tmp_path):
    """Intervals over folds use the corrected error; intervals over a single test set are bootstrapped."""
    methods = {"naive": {}}
    folds = compare_methods(tmp_path / "folds", make_plan("needles", methods, options={"n_bags": 20}, folds=2))
    assert "corrected resampled standard error" in write_comparison_page(folds).read_text()
    options = {"n_bags": 10, "n_test_bags": 10}
    one_set = compare_methods(tmp_path / "one_set", make_plan("digits", methods, options=options))
    page = write_comparison_page(one_set).read_text()
    assert "95 % bootstrap interval" in page
    assert "the data set's own test bags" in page


def test_write_comparison_page_warns_if_the_epoch_was_chosen_on_the_test_bags(tmp_path):
    methods = {"attention": {"epochs": 1}}
    plan = make_plan("needles", methods, options={"n_bags": 20}, folds=2)
    honest = write_comparison_page(compare_methods(tmp_path / "honest", plan)).read_text()
    peeking = write_comparison_page(compare_methods(tmp_path / "peeking", plan._replace(peeking=True))).read_text()
    assert "the epoch was chosen on the test bags" in peeking
    assert "WARNING" not in honest
