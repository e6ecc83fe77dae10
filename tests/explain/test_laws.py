"""Laws of the explanation of every method."""

import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.estimators import BagClassifier, MinimaxKernel
from bagwise.estimators.methods import METHODS, build_method
from bagwise.explain import explain

NEEDLES = load_dataset("needles", n_bags=16)
SHOWN = NEEDLES[:4]
QUICK = {
    "epochs": 2,
    "batch_size": 8,
    "engine": "torch",
    "calibration": 0,
    "starts": 2,
    "random_state": 0,
    "estimator__epochs": 2,
    "estimator__engine": "torch",
    "estimators": {"kernel": MinimaxKernel(calibration=0), "network": BagClassifier(epochs=2, engine="torch")},
}


@pytest.fixture(scope="module", params=METHODS)
def fitted(request):
    method = build_method(request.param)
    known = {word: value for word, value in QUICK.items() if word in method.get_params()}
    return method.set_params(**known).fit(NEEDLES, NEEDLES.labels)


@pytest.fixture(scope="module")
def why(fitted):
    return explain(fitted, SHOWN)


def test_contributions_and_baseline_add_up_to_the_score(why):
    sums = np.array([part.sum(axis=0) for part in np.split(why.contributions, SHOWN.offsets[1:-1])])
    size = np.abs(why.contributions).max() + np.abs(why.scores).max()
    np.testing.assert_allclose(why.baseline + sums, why.scores, rtol=0, atol=1e-9 * size)
    assert why.contributions.dtype == why.scores.dtype == np.float64
    assert np.abs(why.contributions).max() > 1e-3
    np.testing.assert_array_equal(why.scores[:, 0], -why.scores[:, 1])


def test_scores_are_the_log_odds_of_the_estimator_or_the_mean_over_its_members(fitted, why):
    members = getattr(fitted, "members_", [fitted])
    probabilities = np.array([member.predict_proba(SHOWN) for member in members])
    logarithms = np.log(np.maximum(probabilities, 1e-12))  # trees are certain at times
    odds = np.average(logarithms[..., 1] - logarithms[..., 0], axis=0, weights=getattr(fitted, "voices_", None))
    np.testing.assert_allclose(why.scores[:, 1], odds, rtol=1e-5, atol=1e-5)


def test_probabilities_and_weights_are_those_of_the_judgement_to_the_bit(fitted, why):
    judged = fitted.judge(SHOWN)
    np.testing.assert_array_equal(why.probabilities, judged.probabilities)
    np.testing.assert_array_equal(why.weights, judged.weights)
    np.testing.assert_array_equal(why.classes, fitted.classes_)


def test_an_instance_alone_has_all_the_weight_and_makes_the_whole_score(fitted):
    alone = Bags(NEEDLES.instances[:12], np.arange(13))
    found = explain(fitted, alone)
    np.testing.assert_array_equal(found.weights, 1)
    np.testing.assert_allclose(found.contributions, found.scores - found.baseline, rtol=1e-9, atol=1e-12)


def test_a_bag_alone_is_explained_as_among_others(fitted, why):
    found = explain(fitted, SHOWN[[2]])
    rows = slice(SHOWN.offsets[2], SHOWN.offsets[3])
    np.testing.assert_allclose(found.contributions, why.contributions[rows], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.scores, why.scores[[2]], rtol=1e-4, atol=1e-5)


def test_the_order_of_instances_does_not_matter(fitted):
    """Also for sampled orders, where a bag is so small that all its orders are walked."""
    threes = [bag[:3] for bag in SHOWN]
    found = explain(fitted, Bags.from_list(threes)).contributions
    again = explain(fitted, Bags.from_list([bag[::-1] for bag in threes])).contributions
    for one, other in zip(np.split(found, len(SHOWN)), np.split(again, len(SHOWN)), strict=True):
        np.testing.assert_allclose(other[::-1], one, rtol=1e-4, atol=1e-6)
