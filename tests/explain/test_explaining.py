"""Which road each kind of estimator takes, and what holders of estimators make of it."""

import math

import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import Adjusted, BagClassifier, Committee, Ensemble, MIKernel, PooledClassifier, Selected
from bagwise.explain import explain
from bagwise.pooling import Mean, Pooling

NEEDLES = load_dataset("needles", n_bags=24)
QUICK = {"epochs": 3, "batch_size": 8, "learning_rate": 5e-3, "engine": "torch", "random_state": 0}
SHOWN = NEEDLES[:5]


def network(**parameters):
    return BagClassifier(**{**QUICK, **parameters})


def sums(why, bags):
    return why.baseline + np.array([part.sum(axis=0) for part in np.split(why.contributions, bags.offsets[1:-1])])


def test_instance_level_max_gets_the_shapley_values_of_the_maximum():
    model = network(pooling="max", level="instance").fit(NEEDLES, NEEDLES.labels)
    bag = Bags.from_list([SHOWN[0][:4]])
    scores = model.score_instances(bag).astype(np.float64)
    expected = np.zeros(4)
    for subset in range(1, 16):  # the dividends of a maximum: c(S) = Σ over T ⊆ S of (−1)^(|S| − |T|) max(T)
        rows = [row for row in range(4) if subset >> row & 1]
        inner = [[row for row in rows if part >> row & 1] for part in range(1, 16) if part & ~subset == 0]
        dividend = sum((-1) ** (len(rows) - len(chosen)) * scores[chosen].max() for chosen in inner)
        expected[rows] += dividend / len(rows)
    why = explain(model, bag, orders=math.factorial(4))
    assert why.method == "sampled orders"
    np.testing.assert_allclose(why.contributions[:, 1], expected, atol=1e-6)


def test_an_ensemble_is_the_mean_of_its_members():
    model = Ensemble(network(), n=2, random_state=0).fit(NEEDLES, NEEDLES.labels)
    why, members = explain(model, SHOWN), [explain(member, SHOWN) for member in model.members_]
    assert why.method == "closed form"
    for name in ("scores", "baseline", "contributions"):
        expected = (getattr(members[0], name) + getattr(members[1], name)) / 2
        np.testing.assert_allclose(getattr(why, name), expected, rtol=1e-12)
    assert np.abs(members[0].contributions - members[1].contributions).max() > 1e-3
    np.testing.assert_array_equal(why.probabilities, model.predict_proba(SHOWN))


def test_of_a_committee_each_member_is_explained_in_its_own_way():
    model = Committee({"network": network(), "kernel": MIKernel(calibration=0)}, random_state=0)
    why = explain(model.fit(NEEDLES, NEEDLES.labels), SHOWN)
    members = [explain(member, SHOWN) for member in model.members_]
    assert why.method == "closed form and sampled orders"
    np.testing.assert_allclose(why.contributions, (members[0].contributions + members[1].contributions) / 2, rtol=1e-12)
    np.testing.assert_allclose(sums(why, SHOWN), why.scores, rtol=1e-9)


def test_an_adjusted_estimator_shows_its_own_probabilities_and_the_scores_of_what_it_holds():
    model = Adjusted(network(), temperature=True, random_state=0).fit(NEEDLES, NEEDLES.labels)
    assert model.adjustment_.temperature != 1
    why, held = explain(model, SHOWN), explain(model.model_, SHOWN)
    np.testing.assert_array_equal(why.probabilities, model.judge(SHOWN).probabilities)
    assert np.abs(why.probabilities - held.probabilities).max() > 1e-4
    np.testing.assert_array_equal(why.contributions, held.contributions)
    np.testing.assert_array_equal(why.scores, held.scores)


def test_a_selected_estimator_is_explained_as_what_was_selected():
    model = Selected(network(), {"pooling": ["mean"]}, folds=2, random_state=0).fit(NEEDLES, NEEDLES.labels)
    why, held = explain(model, SHOWN), explain(model.model_, SHOWN)
    assert why.method == "closed form"
    np.testing.assert_array_equal(why.contributions, held.contributions)


@pytest.mark.parametrize("pooling", ["attention", "max"])
def test_scores_are_those_before_the_temperature(pooling):
    model = network(pooling=pooling, temperature=True, validation=0.5).fit(NEEDLES, NEEDLES.labels)
    assert model.adjustment_.temperature != 1
    np.testing.assert_allclose(explain(model, SHOWN).scores[:, 1], model.decision_function(SHOWN), atol=1e-5)


class Foreign(Pooling):
    """A mean by somebody who knows no pieces."""

    title = "foreign"

    def forward(self, values, offsets):
        return Mean()(values, offsets)


def test_a_network_with_a_pooling_of_somebody_else_is_explained_by_its_judgements():
    own = network(pooling=Foreign()).fit(NEEDLES, NEEDLES.labels)
    why = explain(own, SHOWN)
    assert why.method == "sampled orders"
    np.testing.assert_allclose(sums(why, SHOWN), why.scores, rtol=1e-9)
    np.testing.assert_allclose(why.scores[:, 1], own.decision_function(SHOWN), atol=1e-4)


@pytest.mark.parametrize(
    "model",
    [network(), network(pooling="max"), network(pooling="max", connections="deep supervision"), MIKernel(), None],
    ids=["attention", "max", "deep supervision", "kernel", "trees"],
)
def test_of_several_classes_scores_and_contributions_are_centred_and_add_up(model):
    labels = np.arange(len(NEEDLES)) % 3
    fitted = (model or PooledClassifier(random_state=0)).fit(NEEDLES, labels)
    why = explain(fitted, SHOWN, orders=2)
    assert why.contributions.shape == (SHOWN.n_instances, 3)
    np.testing.assert_allclose(why.contributions.sum(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose(sums(why, SHOWN), why.scores, rtol=1e-9, atol=1e-12)
    exponentials = np.exp(why.scores)
    expected = exponentials / exponentials.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(why.probabilities, expected, atol=1e-5)


@pytest.mark.parametrize("orders", [0, -1])
def test_no_orders_are_refused(orders):
    model = MIKernel(calibration=0).fit(NEEDLES, NEEDLES.labels)
    with pytest.raises(InputError, match=r"orders is .*; it must be a whole number of at least 1"):
        explain(model, SHOWN, orders=orders)


def test_a_list_of_arrays_is_explained_as_bags_are():
    model = network().fit(NEEDLES, NEEDLES.labels)
    why = explain(model, list(SHOWN))
    np.testing.assert_array_equal(why.contributions, explain(model, SHOWN).contributions)
    assert why.classes.tolist() == [0, 1]
