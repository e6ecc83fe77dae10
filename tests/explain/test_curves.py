import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.explain import explain
from bagwise.explain.curves import deletion_and_insertion

NEEDLES = load_dataset("needles", n_bags=40)
MODEL = BagClassifier(epochs=15, learning_rate=3e-3, random_state=0, engine="torch").fit(NEEDLES, NEEDLES.labels)
BAG = NEEDLES[[int((NEEDLES.labels * NEEDLES.sizes).argmax())]]


def probability(rows):
    return MODEL.predict_proba(Bags.from_list([BAG.instances[rows]]))[0, 1]


def test_every_point_is_the_models_own_judgement_of_what_is_left_or_put_in():
    order = np.random.default_rng(0).permutation(BAG.n_instances)
    curve = deletion_and_insertion(MODEL, BAG, order, class_number=1, points=4)
    counts = (curve.shares * len(order)).round().astype(int)
    assert (counts[0], counts[-1], len(counts)) == (0, len(order), 5)
    left = [probability(order[count:]) for count in counts[:-1]]
    put_in = [probability(order[:count]) for count in counts[1:]]
    np.testing.assert_allclose(curve.deletion, [*left, 0.5], rtol=1e-5)
    np.testing.assert_allclose(curve.insertion, [0.5, *put_in], rtol=1e-5)


def test_areas_are_those_under_the_lines():
    curve = deletion_and_insertion(MODEL, BAG, np.arange(BAG.n_instances), class_number=1)
    for heights, area in ((curve.deletion, curve.deletion_area), (curve.insertion, curve.insertion_area)):
        fine = np.linspace(0, 1, 100_001)
        np.testing.assert_allclose(area, np.interp(fine, curve.shares, heights).mean(), atol=1e-4)


def test_a_bag_smaller_than_the_points_has_one_for_each_instance():
    curve = deletion_and_insertion(MODEL, BAG, np.arange(BAG.n_instances), class_number=1, points=1000)
    np.testing.assert_allclose(curve.shares, np.arange(BAG.n_instances + 1) / BAG.n_instances)


def test_of_one_instance_both_curves_lead_between_the_bag_and_even_odds():
    alone = Bags.from_list([BAG.instances[:1]])
    curve = deletion_and_insertion(MODEL, alone, np.array([0]), class_number=0)
    expected = MODEL.predict_proba(alone)[0, 0]
    np.testing.assert_allclose(curve.deletion, [expected, 0.5], rtol=1e-5)
    np.testing.assert_allclose(curve.insertion, [0.5, expected], rtol=1e-5)


def test_the_order_of_contributions_decides_earlier_than_its_reverse():
    why = explain(MODEL, BAG)
    assert why.probabilities[0, 1] > 0.8  # else there is nothing to show
    best_first = np.argsort(-why.contributions[:, 1])
    good, bad = (deletion_and_insertion(MODEL, BAG, order, 1) for order in (best_first, best_first[::-1]))
    assert good.deletion_area < bad.deletion_area
    assert good.insertion_area > bad.insertion_area


@pytest.mark.parametrize("order", [[0, 1], [0] * BAG.n_instances, list(range(1, BAG.n_instances + 1))], ids=str)
def test_an_order_that_is_none_is_refused(order):
    with pytest.raises(InputError, match=r"must name each of its \d+ rows once, e\.g\. np\.argsort\(-weights\)"):
        deletion_and_insertion(MODEL, BAG, np.array(order), class_number=1)


def test_several_bags_are_refused():
    with pytest.raises(InputError, match=r"a curve is of one bag, and there are 2; choose one, e\.g\. bags\[\[0\]\]"):
        deletion_and_insertion(MODEL, NEEDLES[:2], np.arange(3), class_number=1)
