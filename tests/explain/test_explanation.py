"""The method that explains each kind of estimator, and the explanations of meta-estimators."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.special import logit

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.adjusted import Adjusted
from bagwise.estimators.meta.committee import Committee
from bagwise.estimators.meta.ensemble import Ensemble
from bagwise.estimators.meta.selected import Selected
from bagwise.explain.explanation import explain_bags
from bagwise.nn.pooling.base import Pooling
from bagwise.nn.pooling.linear import Mean
from contexts import SelfAttention, every_context

NEEDLES = load_dataset("needles", n_bags=24)
FAST = {"epochs": 3, "batch_size": 8, "learning_rate": 5e-3, "engine": "torch", "validation": None, "random_state": 0}
BAGS = NEEDLES[:5]


def network(**parameters):
    return BagClassifier(**{**FAST, **parameters})


def sum_contributions(explanation, bags):
    return explanation.baseline + np.array(
        [part.sum(axis=0) for part in np.split(explanation.contributions, bags.offsets[1:-1])]
    )


def test_explain_bags_of_instance_level_max_returns_the_exact_shapley_values():
    model = network(pooling="max", level="instance").fit(NEEDLES, NEEDLES.labels)
    bag = Bags.from_list([BAGS[0][:4]])
    scores = model.score_instances(bag).astype(np.float64)
    expected = np.zeros(4)
    for subset in range(1, 16):  # the Harsanyi dividends of a maximum: c(S) = Σ over T ⊆ S of (−1)^(|S| − |T|) max(T)
        rows = [row for row in range(4) if subset >> row & 1]
        inner = [[row for row in rows if part >> row & 1] for part in range(1, 16) if part & ~subset == 0]
        dividend = sum((-1) ** (len(rows) - len(chosen)) * scores[chosen].max() for chosen in inner)
        expected[rows] += dividend / len(rows)
    explanation = explain_bags(model, bag, orders=math.factorial(4))
    assert explanation.method == "sampled permutations"
    np.testing.assert_allclose(explanation.contributions[:, 1], expected, atol=1e-6)


def test_explain_bags_of_an_ensemble_is_the_mean_over_members():
    model = Ensemble(network(), n=2, random_state=0).fit(NEEDLES, NEEDLES.labels)
    explanation, members = explain_bags(model, BAGS), [explain_bags(member, BAGS) for member in model.members_]
    assert explanation.method == "closed form"
    for name in ("scores", "baseline", "contributions"):
        expected = (getattr(members[0], name) + getattr(members[1], name)) / 2
        np.testing.assert_allclose(getattr(explanation, name), expected, rtol=1e-12)
    assert np.abs(members[0].contributions - members[1].contributions).max() > 1e-3
    np.testing.assert_array_equal(explanation.outputs, model.predict_proba(BAGS))


def test_explain_bags_of_a_committee_explains_each_member_by_its_own_method():
    model = Committee({"network": network(), "kernel": MIKernel(calibration=False)}, random_state=0)
    explanation = explain_bags(model.fit(NEEDLES, NEEDLES.labels), BAGS)
    members = [explain_bags(member, BAGS) for member in model.members_]
    assert explanation.method == "closed form and sampled permutations"
    np.testing.assert_allclose(
        explanation.contributions, (members[0].contributions + members[1].contributions) / 2, rtol=1e-12
    )
    np.testing.assert_allclose(sum_contributions(explanation, BAGS), explanation.scores, rtol=1e-9)


def test_explain_bags_of_an_adjusted_estimator_scales_the_contributions_of_the_wrapped_one():
    model = Adjusted(network(), calibration=True, random_state=0).fit(NEEDLES, NEEDLES.labels)
    slope, offset = model.calibration_
    assert slope != 1
    explanation, wrapped = explain_bags(model, BAGS), explain_bags(model.model_, BAGS)
    np.testing.assert_array_equal(explanation.outputs, model.predict_with_weights(BAGS).outputs)
    assert np.abs(explanation.outputs - wrapped.outputs).max() > 1e-4
    np.testing.assert_array_equal(explanation.contributions, slope * wrapped.contributions)
    np.testing.assert_allclose(explanation.scores[:, 1], slope * wrapped.scores[:, 1] + offset, rtol=1e-12)
    np.testing.assert_allclose(explanation.scores[:, 1], logit(explanation.outputs[:, 1]), atol=1e-5)
    np.testing.assert_allclose(sum_contributions(explanation, BAGS), explanation.scores, rtol=1e-9)


def test_explain_bags_of_a_selected_estimator_explains_the_selected_model():
    model = Selected(network(), {"pooling": ["mean"]}, folds=2, random_state=0).fit(NEEDLES, NEEDLES.labels)
    explanation, wrapped = explain_bags(model, BAGS), explain_bags(model.model_, BAGS)
    assert explanation.method == "closed form"
    np.testing.assert_array_equal(explanation.contributions, wrapped.contributions)


@pytest.mark.parametrize("pooling", ["attention", "max"])
def test_explain_bags_returns_calibrated_scores(pooling):
    model = network(pooling=pooling, calibration=True, validation=0.5).fit(NEEDLES, NEEDLES.labels)
    assert model.calibration_.slope != 1
    explanation = explain_bags(model, BAGS)
    np.testing.assert_allclose(sum_contributions(explanation, BAGS), explanation.scores, rtol=1e-9)
    np.testing.assert_allclose(explain_bags(model, BAGS).scores[:, 1], model.decision_function(BAGS), atol=1e-5)


class CustomPooling(Pooling):
    """Mean pooling written by a user, without the additive interface."""

    title = "custom"

    def forward(self, values, offsets):
        return Mean()(values, offsets)


def test_explain_bags_of_a_network_with_custom_pooling_scores_its_predictions():
    own = network(pooling=CustomPooling()).fit(NEEDLES, NEEDLES.labels)
    explanation = explain_bags(own, BAGS)
    assert explanation.method == "sampled permutations"
    np.testing.assert_allclose(sum_contributions(explanation, BAGS), explanation.scores, rtol=1e-9)
    np.testing.assert_allclose(explanation.scores[:, 1], own.decision_function(BAGS), atol=1e-4)


@pytest.mark.parametrize(
    "model",
    [network(), network(pooling="max"), network(pooling="max", connections="deep supervision"), MIKernel(), None],
    ids=["attention", "max", "deep supervision", "kernel", "trees"],
)
def test_explain_bags_of_several_classes_has_centred_contributions_that_sum_to_the_scores(model):
    labels = np.arange(len(NEEDLES)) % 3
    fitted = (model or PooledClassifier(random_state=0)).fit(NEEDLES, labels)
    explanation = explain_bags(fitted, BAGS, orders=2)
    assert explanation.contributions.shape == (BAGS.n_instances, 3)
    np.testing.assert_allclose(explanation.contributions.sum(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose(sum_contributions(explanation, BAGS), explanation.scores, rtol=1e-9, atol=1e-12)
    exponentials = np.exp(explanation.scores)
    expected = exponentials / exponentials.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(explanation.outputs, expected, atol=1e-5)


@pytest.mark.parametrize("orders", [0, -1])
def test_explain_bags_rejects_a_number_of_permutations_below_one(orders):
    model = MIKernel(calibration=False).fit(NEEDLES, NEEDLES.labels)
    with pytest.raises(InputError, match=r"orders is .*; it must be a whole number of at least 1"):
        explain_bags(model, BAGS, orders=orders)


def test_explain_bags_accepts_a_list_of_arrays():
    model = network().fit(NEEDLES, NEEDLES.labels)
    explanation = explain_bags(model, list(BAGS))
    np.testing.assert_array_equal(explanation.contributions, explain_bags(model, BAGS).contributions)
    assert explanation.names == ("0", "1")


def fit_with_context(kind, **parameters):
    return network(context=kind(64), **parameters).fit(NEEDLES, NEEDLES.labels)


@every_context
@pytest.mark.parametrize(("level", "pooling"), [("embedding", "gated attention"), ("instance", "mean")])
def test_explain_bags_with_a_context_has_contributions_that_sum_to_the_score(kind, level, pooling):
    model = fit_with_context(kind, level=level, pooling=pooling)
    explanation = explain_bags(model, BAGS)
    assert explanation.method == "sampled permutations"
    np.testing.assert_array_equal(explanation.baseline, 0)
    np.testing.assert_allclose(sum_contributions(explanation, BAGS), explanation.scores, rtol=1e-9)
    np.testing.assert_allclose(explanation.scores[:, 1], model.decision_function(BAGS), atol=1e-5)


@every_context
def test_explain_bags_with_a_context_returns_the_shapley_values_of_whole_sub_bags(kind):
    """With all 3! permutations: the mean change of the score when an instance joins the instances before it."""
    model, rows = fit_with_context(kind), BAGS[0][:3]
    subsets = [list(subset) for size in (1, 2, 3) for subset in combinations(range(3), size)]
    scores = dict(zip(map(tuple, subsets), model.decision_function([rows[s] for s in subsets]), strict=True)) | {
        (): 0.0
    }
    expected = np.zeros(3)
    for order in permutations(range(3)):
        for position, instance in enumerate(order):
            before = order[:position]
            change = scores[tuple(sorted((*before, instance)))] - scores[tuple(sorted(before))]
            expected[instance] += change / math.factorial(3)
    explanation = explain_bags(model, [rows])
    np.testing.assert_allclose(explanation.contributions[:, 1], expected, atol=1e-6)


def test_explain_bags_with_a_context_returns_calibrated_scores():
    model = fit_with_context(SelfAttention, calibration=True, validation=0.5)
    assert model.calibration_.slope != 1
    np.testing.assert_allclose(explain_bags(model, BAGS).scores[:, 1], model.decision_function(BAGS), atol=1e-5)
