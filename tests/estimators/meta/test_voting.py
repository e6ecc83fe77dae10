import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from torch import nn

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.mi_vlad import MiVLAD
from bagwise.estimators.classical.naive import NaiveClassifier
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.adjusted import Adjusted
from bagwise.estimators.meta.committee import Committee
from bagwise.estimators.meta.ensemble import Ensemble
from bagwise.estimators.meta.selected import Selected

NEEDLES = load_dataset("needles", n_bags=30)
TEST = load_dataset("needles", n_bags=30, seed=1)
WORDS = np.where(NEEDLES.labels == 1, "tumour", "normal")
NETWORK = BagClassifier(epochs=1, batch_size=8)
FOREST = PooledClassifier(ExtraTreesClassifier(5))
NAIVE = NaiveClassifier(ExtraTreesClassifier(5))
VECTORS = MiVLAD(3)
SELECTED = Selected(VECTORS, {"C": [0.1, 1.0]}, folds=2)
MODELS = {
    "networks": Ensemble(NETWORK, n=3),
    "forests": Ensemble(FOREST, n=3),
    "naive": Ensemble(NAIVE, n=3),
    "vectors": Ensemble(VECTORS, n=3),
    "ensembles": Ensemble(Ensemble(FOREST, n=2), n=3),
    "committee": Committee({"network": NETWORK, "trees": FOREST, "selected": SELECTED}),
    "committees": Ensemble(Committee({"trees": FOREST, "vectors": VECTORS}), n=3),
    "committee of meta-estimators": Committee(
        {
            "three": Ensemble(FOREST, n=3),
            "adjusted": Adjusted(FOREST, threshold=True),
            "inner": Committee({"a": FOREST}),
        }
    ),
}


@pytest.fixture(scope="module", params=MODELS)
def voting(request):
    return clone(MODELS[request.param]).set_params(random_state=7).fit(NEEDLES, WORDS)


def test_predictions_are_the_average_of_the_members(voting):
    members = [clone(member) for member in voting.members_]
    predictions = [member.fit(NEEDLES, WORDS).predict_with_weights(TEST) for member in members]
    assert len({member.random_state for member in members}) == 3
    probabilities, weights = map(np.array, zip(*predictions, strict=True))
    np.testing.assert_array_equal(voting.predict_proba(TEST), probabilities.mean(axis=0))
    np.testing.assert_array_equal(voting.weigh(TEST), weights.mean(axis=0))
    np.testing.assert_array_equal(voting.predict_with_weights(TEST).outputs, probabilities.mean(axis=0))
    np.testing.assert_array_equal(voting.predict_with_weights(TEST).weights, weights.mean(axis=0))
    assert np.ptp(probabilities, axis=0).max() > 0, "members with different seeds differ"


def test_spread_is_the_standard_deviation_over_the_members(voting):
    spread = voting.spread(TEST)
    first, second, third = (member.predict_proba(TEST) for member in voting.members_)
    mean = (first + second + third) / 3
    expected = (((first - mean) ** 2 + (second - mean) ** 2 + (third - mean) ** 2) / 3) ** 0.5
    np.testing.assert_allclose(spread.outputs, expected, atol=1e-12)
    weights = np.array([member.weigh(TEST) for member in voting.members_])
    np.testing.assert_allclose(spread.weights, np.sqrt(((weights - weights.mean(axis=0)) ** 2).mean(axis=0)), atol=1e-9)


def test_decision_function_returns_the_log_odds_of_the_average(voting):
    decisions = voting.decision_function(TEST)
    np.testing.assert_allclose(1 / (1 + np.exp(-decisions)), voting.predict_proba(TEST)[:, 1], atol=1e-10)


def test_decision_threshold_is_the_average_over_the_members(voting):
    thresholds = [member.decision_threshold for member in voting.members_]
    assert voting.decision_threshold == pytest.approx(sum(thresholds) / 3)


def test_load_restores_the_members_bit_identically(voting, tmp_path):
    voting.save(tmp_path / "model")
    loaded = BagEstimator.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(TEST), voting.predict_proba(TEST))
    np.testing.assert_array_equal(loaded.spread(TEST).weights, voting.spread(TEST).weights)
    assert repr(loaded) == repr(voting)
    assert loaded.decision_threshold == voting.decision_threshold
    for before, after in zip(voting.members_, loaded.members_, strict=True):
        assert repr(after) == repr(before)
        after.save(tmp_path / "member")
        alone = BagEstimator.load(tmp_path / "member")
        np.testing.assert_array_equal(alone.predict_proba(TEST), before.predict_proba(TEST))


def test_save_writes_the_parameters_of_the_members_even_if_they_are_defaults(tmp_path):
    Ensemble(n=1, random_state=0).fit(NEEDLES, WORDS).save(tmp_path / "model")
    (member,) = json.loads((tmp_path / "model" / "model.json").read_text())["learned"]["members"]
    assert member["member"]["estimator"] == "PooledClassifier"
    assert member["member"]["parameters"]["scaling"] == "clipped"


@pytest.mark.parametrize("meta", [lambda each: Ensemble(each, n=2), lambda each: Committee({"a": each, "b": each})])
def test_score_instances_averages_the_members_if_all_of_them_score_instances(meta):
    assert not hasattr(meta(FOREST), "score_instances")
    model = meta(NAIVE).set_params(random_state=0).fit(NEEDLES, WORDS)
    singletons = Bags(TEST.instances, np.arange(TEST.n_instances + 1))
    probabilities = [member.predict_proba(singletons)[:, 1] for member in model.members_]
    mean = np.clip(np.mean(probabilities, axis=0), 1e-12, 1 - 1e-12)
    np.testing.assert_allclose(model.score_instances(TEST), np.log(mean / (1 - mean)), atol=1e-3)


def test_average_uses_the_member_weights():
    model = Ensemble(FOREST, n=2)
    assert model.average([1.0, 3.0]) == 2.0
    model.member_weights_ = np.array([0.75, 0.25])
    assert model.average([1.0, 3.0]) == 1.5


def test_predictions_have_one_column_per_class():
    labels = np.arange(30) % 3
    three = Ensemble(PooledClassifier(LogisticRegression()), n=2, random_state=0).fit(NEEDLES, labels)
    assert three.decision_function(TEST).shape == (30, 3)
    np.testing.assert_allclose(three.predict_proba(TEST).sum(axis=1), 1)


def test_save_rejects_members_with_custom_modules(tmp_path):
    network = BagClassifier(encoder=nn.Linear(16, 4), epochs=1, batch_size=8)
    for voting in (Ensemble(network, n=1), Committee({"trees": FOREST, "own": network})):
        with pytest.raises(InputError, match="the members include a BagClassifier with a custom module for encoder"):
            voting.fit(NEEDLES, WORDS).save(tmp_path / "model")
        assert not (tmp_path / "model").exists()


def test_load_restores_members_with_deep_supervision(tmp_path):
    bags = load_dataset("needles", n_bags=20)
    inside = BagClassifier(pooling="max", connections="deep supervision", epochs=1)
    model = Ensemble(inside, n=2, random_state=0).fit(bags, bags.labels)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(Ensemble.load(tmp_path / "model").predict_proba(bags), model.predict_proba(bags))
