import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.estimators import PooledClassifier
from bagwise.evaluation import intervals
from bagwise.evaluation.bag_metrics import bag_metrics
from bagwise.evaluation.cross_validation import judge_split, summarise_units
from bagwise.evaluation.intervals import bootstrap, draws
from bagwise.evaluation.one_test_set import drawn_difference, drawn_metrics, share_test_bags
from bagwise.evaluation.protocol import Split

NEEDLES = load_dataset("needles", n_bags=40)
ROWS = np.arange(40)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(intervals, "DRAWS", 50)


def units(method=None, repeats=2):
    splits = [Split(repeat, 0, ROWS[:25], ROWS[25:]) for repeat in range(repeats)]
    return [judge_split(method or PooledClassifier(), NEEDLES, NEEDLES.labels, split, 0) for split in splits]


def test_one_fit_has_the_interval_of_the_bootstrap():
    found = units(repeats=1)
    own = found[0]["predictions"]["bags"]
    expected = bootstrap(np.array(own["targets"]), np.array(own["probabilities"]))
    scores = summarise_units(found)
    for name in ("accuracy", "auc", "log_loss"):
        assert scores[name].errors.interval == pytest.approx(expected[name])
        assert scores[name].errors.interval_by == "bootstrap"
        assert scores[name].errors.corrected_error is None


def test_several_fits_are_averaged_in_every_draw():
    found = units()
    drawn = drawn_metrics(found, "bags")["accuracy"]
    for rows, value in zip(draws(15), drawn, strict=True):
        each = [
            bag_metrics(np.array(own["targets"])[rows], np.array(own["probabilities"])[rows])["accuracy"]
            for own in (unit["predictions"]["bags"] for unit in found)
        ]
        assert value == pytest.approx(np.mean(each))


def test_splits_that_were_drawn_anew_do_not_share_their_test_bags():
    assert share_test_bags(units())
    other = judge_split(PooledClassifier(), NEEDLES, NEEDLES.labels, Split(0, 1, ROWS[15:], ROWS[:15]), 0)
    assert not share_test_bags([*units(), other])


def test_a_difference_is_certain_only_as_far_as_the_test_bags_are():
    first, second = np.array([0.8, 0.9, 0.7, 0.8]), np.array([0.7, 0.9, 0.8, np.nan])
    found = drawn_difference(first, second, 0.05, 3)
    assert found.p_value == 1.0  # of three draws one says so, one otherwise, one neither
    sure = drawn_difference(np.full(99, 0.9), np.full(99, 0.6), 0.3, 3)
    assert sure.interval == pytest.approx((0.3, 0.3))
    assert sure.p_value == pytest.approx(2 / 100)
