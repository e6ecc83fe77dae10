import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.estimators import MIKernel
from bagwise.explain import subsets
from bagwise.explain.orders import plan_walk
from bagwise.explain.subsets import judge_subsets, judging
from unchecked import unchecked

NEEDLES = load_dataset("needles", n_bags=20)
MODEL = MIKernel(calibration=0, random_state=0).fit(NEEDLES, NEEDLES.labels)
BAG = NEEDLES[[int(NEEDLES.sizes.argmax())]]
SUBSETS = [np.array([0]), np.array([4, 2]), np.arange(BAG.n_instances), np.array([1, 5, 3])]


@pytest.mark.parametrize("most", [1, 4, 1000])
def test_each_subset_is_judged_as_a_bag_of_its_own(most, monkeypatch):
    monkeypatch.setattr(subsets, "ROWS_AT_ONCE", most)
    found = judge_subsets(MODEL, BAG, SUBSETS)
    expected = [MODEL.predict_proba(Bags.from_list([BAG.instances[rows]]))[0] for rows in SUBSETS]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_no_more_rows_are_packed_together_than_allowed(monkeypatch):
    seen = []

    class Counting:
        def predict_proba(self, bags):
            seen.append((len(bags), bags.n_instances))
            return np.full((len(bags), 2), 0.5)

    monkeypatch.setattr(subsets, "ROWS_AT_ONCE", 5)
    rows = [np.arange(size) for size in (2, 3, 1, 8, 4)]
    with unchecked():
        judge_subsets(Counting(), BAG, rows)
    assert seen == [(2, 5), (1, 1), (1, 8), (1, 4)]


def test_along_a_walk_the_score_is_the_log_odds_of_each_prefix():
    walk = plan_walk(BAG.n_instances, n_orders=2, n_steps=BAG.n_instances)
    scores = judging(MODEL)(BAG, walk)
    prefix = Bags.from_list([BAG.instances[walk.orders[1, :4]]])
    odds = MODEL.predict_proba(prefix)[0]
    np.testing.assert_allclose(scores[1, 3, 1], np.log(odds[1] / odds[0]), rtol=1e-10)
    np.testing.assert_allclose(scores[..., 0], -scores[..., 1])
