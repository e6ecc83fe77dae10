"""Properties of explanations that hold for every method."""

import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.majority import MajorityClassifier
from bagwise.estimators.classical.minimax_kernel import MinimaxKernel
from bagwise.estimators.registry import METHODS, build_method
from bagwise.explain.explanation import explain_bags

NEEDLES = load_dataset("needles", n_bags=16)
BAGS = NEEDLES[:4]
FAST = {
    "epochs": 2,
    "batch_size": 8,
    "engine": "torch",
    "calibration": False,
    "starts": 2,
    "random_state": 0,
    "estimator__epochs": 2,
    "estimator__engine": "torch",
    "estimators": {"kernel": MinimaxKernel(calibration=False), "network": BagClassifier(epochs=2, engine="torch")},
}


@pytest.fixture(scope="module", params=METHODS)
def fitted(request):
    method = build_method(request.param)
    applicable = {name: value for name, value in FAST.items() if name in method.get_params()}
    return method.set_params(**applicable).fit(NEEDLES, NEEDLES.labels)


@pytest.fixture(scope="module")
def explanation(fitted):
    return explain_bags(fitted, BAGS)


def test_explain_bags_contributions_and_baseline_sum_to_the_score(fitted, explanation):
    sums = np.array([part.sum(axis=0) for part in np.split(explanation.contributions, BAGS.offsets[1:-1])])
    size = np.abs(explanation.contributions).max() + np.abs(explanation.scores).max()
    np.testing.assert_allclose(explanation.baseline + sums, explanation.scores, rtol=0, atol=1e-9 * size)
    assert explanation.contributions.dtype == explanation.scores.dtype == np.float64
    # only the majority baseline ignores the instances
    assert (np.abs(explanation.contributions).max() > 1e-3) != isinstance(fitted, MajorityClassifier)
    np.testing.assert_array_equal(explanation.scores[:, 0], -explanation.scores[:, 1])


def test_explain_bags_scores_are_log_odds_or_their_mean_over_members(fitted, explanation):
    members = getattr(fitted, "members_", [fitted])
    probabilities = np.array([member.predict_proba(BAGS) for member in members])
    logarithms = np.log(np.maximum(probabilities, 1e-12))  # trees may predict zero
    odds = np.average(logarithms[..., 1] - logarithms[..., 0], axis=0, weights=getattr(fitted, "member_weights_", None))
    np.testing.assert_allclose(explanation.scores[:, 1], odds, rtol=1e-5, atol=1e-5)


def test_explain_bags_probabilities_and_weights_are_bit_identical_to_the_prediction(fitted, explanation):
    predicted = fitted.predict_with_weights(BAGS)
    np.testing.assert_array_equal(explanation.outputs, predicted.outputs)
    np.testing.assert_array_equal(explanation.weights, predicted.weights)
    assert list(explanation.names) == [str(label) for label in fitted.classes_]


def test_explain_bags_of_single_instances_gives_them_all_weight_and_the_whole_score(fitted):
    singletons = Bags(NEEDLES.instances[:12], np.arange(13))
    found = explain_bags(fitted, singletons)
    np.testing.assert_array_equal(found.weights, 1)
    np.testing.assert_allclose(found.contributions, found.scores - found.baseline, rtol=1e-9, atol=1e-12)


def test_explain_bags_does_not_depend_on_the_other_bags(fitted, explanation):
    found = explain_bags(fitted, BAGS[[2]])
    rows = slice(BAGS.offsets[2], BAGS.offsets[3])
    np.testing.assert_allclose(found.contributions, explanation.contributions[rows], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.scores, explanation.scores[[2]], rtol=1e-4, atol=1e-5)


def test_explain_bags_does_not_depend_on_the_order_of_instances(fitted):
    """Bags of three instances have six permutations, so all of them are used."""
    threes = [bag[:3] for bag in BAGS]
    found = explain_bags(fitted, Bags.from_list(threes)).contributions
    again = explain_bags(fitted, Bags.from_list([bag[::-1] for bag in threes])).contributions
    for forward, reversed_ in zip(np.split(found, len(BAGS)), np.split(again, len(BAGS)), strict=True):
        np.testing.assert_allclose(reversed_[::-1], forward, rtol=1e-4, atol=1e-6)
