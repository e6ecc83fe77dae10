import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from torch import nn

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import (
    Adjusted,
    BagClassifier,
    BagEstimator,
    Committee,
    Ensemble,
    MiVLAD,
    NaiveClassifier,
    PooledClassifier,
    Selected,
)

NEEDLES = load_dataset("needles", n_bags=30)
TEST = load_dataset("needles", n_bags=30, seed=1)
WORDS = np.where(NEEDLES.labels == 1, "tumour", "normal")
NETWORK = BagClassifier(epochs=1, batch_size=8)
FOREST = PooledClassifier(ExtraTreesClassifier(5))
NAIVE = NaiveClassifier(ExtraTreesClassifier(5))
VECTORS = MiVLAD(3, calibration=2)
CHOSEN = Selected(VECTORS, {"C": [0.1, 1.0]}, folds=2)
VOTERS = {
    "networks": Ensemble(NETWORK, n=3),
    "forests": Ensemble(FOREST, n=3),
    "naive ones": Ensemble(NAIVE, n=3),
    "vectors": Ensemble(VECTORS, n=3),
    "ensembles": Ensemble(Ensemble(FOREST, n=2), n=3),
    "a committee": Committee({"network": NETWORK, "trees": FOREST, "chosen": CHOSEN}),
    "committees": Ensemble(Committee({"trees": FOREST, "vectors": VECTORS}), n=3),
    "a committee of holders": Committee(
        {
            "three": Ensemble(FOREST, n=3),
            "adjusted": Adjusted(FOREST, threshold=True),
            "inner": Committee({"a": FOREST}),
        }
    ),
}


@pytest.fixture(scope="module", params=VOTERS)
def voting(request):
    return clone(VOTERS[request.param]).set_params(random_state=7).fit(NEEDLES, WORDS)


def test_it_says_what_its_members_say_on_average(voting):
    members = [clone(member) for member in voting.members_]
    judged = [member.fit(NEEDLES, WORDS).judge(TEST) for member in members]
    assert len({member.random_state for member in members}) == 3
    probabilities, weights = map(np.array, zip(*judged, strict=True))
    np.testing.assert_array_equal(voting.predict_proba(TEST), probabilities.mean(axis=0))
    np.testing.assert_array_equal(voting.weigh(TEST), weights.mean(axis=0))
    np.testing.assert_array_equal(voting.judge(TEST).probabilities, probabilities.mean(axis=0))
    np.testing.assert_array_equal(voting.judge(TEST).weights, weights.mean(axis=0))
    assert np.ptp(probabilities, axis=0).max() > 0, "members with different seeds differ"


def test_the_spread_is_the_deviation_over_members(voting):
    spread = voting.spread(TEST)
    first, second, third = (member.predict_proba(TEST) for member in voting.members_)
    mean = (first + second + third) / 3
    expected = (((first - mean) ** 2 + (second - mean) ** 2 + (third - mean) ** 2) / 3) ** 0.5
    np.testing.assert_allclose(spread.probabilities, expected, atol=1e-12)
    weights = np.array([member.weigh(TEST) for member in voting.members_])
    np.testing.assert_allclose(spread.weights, np.sqrt(((weights - weights.mean(axis=0)) ** 2).mean(axis=0)), atol=1e-9)


def test_scores_have_the_mean_probabilities(voting):
    decisions = voting.decision_function(TEST)
    np.testing.assert_allclose(1 / (1 + np.exp(-decisions)), voting.predict_proba(TEST)[:, 1], atol=1e-10)


def test_the_threshold_is_the_mean_of_the_members(voting):
    thresholds = [member.decision_threshold for member in voting.members_]
    assert voting.decision_threshold == pytest.approx(sum(thresholds) / 3)


def test_saved_and_loaded_it_predicts_the_same_bits(voting, tmp_path):
    voting.save(tmp_path / "model")
    again = BagEstimator.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(TEST), voting.predict_proba(TEST))
    np.testing.assert_array_equal(again.spread(TEST).weights, voting.spread(TEST).weights)
    assert repr(again) == repr(voting)
    assert again.decision_threshold == voting.decision_threshold
    for before, after in zip(voting.members_, again.members_, strict=True):
        assert repr(after) == repr(before)
        after.save(tmp_path / "member")
        alone = BagEstimator.load(tmp_path / "member")
        np.testing.assert_array_equal(alone.predict_proba(TEST), before.predict_proba(TEST))


def test_the_file_says_what_the_members_are_whatever_the_defaults_will_be(tmp_path):
    Ensemble(n=1, random_state=0).fit(NEEDLES, WORDS).save(tmp_path / "model")
    (member,) = json.loads((tmp_path / "model" / "model.json").read_text())["learned"]["members"]
    assert member["member"]["estimator"] == "PooledClassifier"
    assert member["member"]["parameters"]["standardize"] is True


@pytest.mark.parametrize("holder", [lambda each: Ensemble(each, n=2), lambda each: Committee({"a": each, "b": each})])
def test_instances_are_scored_where_all_members_score_them(holder):
    assert not hasattr(holder(FOREST), "score_instances")
    scored = holder(NAIVE).set_params(random_state=0).fit(NEEDLES, WORDS)
    alone = Bags(TEST.instances, np.arange(TEST.n_instances + 1))
    odds = [member.predict_proba(alone)[:, 1] for member in scored.members_]
    mean = np.clip(np.mean(odds, axis=0), 1e-12, 1 - 1e-12)
    np.testing.assert_allclose(scored.score_instances(TEST), np.log(mean / (1 - mean)), atol=1e-3)


def test_several_classes():
    labels = np.arange(30) % 3
    three = Ensemble(PooledClassifier(LogisticRegression()), n=2, random_state=0).fit(NEEDLES, labels)
    assert three.decision_function(TEST).shape == (30, 3)
    np.testing.assert_allclose(three.predict_proba(TEST).sum(axis=1), 1)


def test_modules_of_the_users_own_are_refused_when_it_is_saved(tmp_path):
    network = BagClassifier(encoder=nn.Linear(16, 4), epochs=1, batch_size=8)
    for voting in (Ensemble(network, n=1), Committee({"trees": FOREST, "own": network})):
        with pytest.raises(InputError, match="a BagClassifier among the members has a module of your own for encoder"):
            voting.fit(NEEDLES, WORDS).save(tmp_path / "model")
        assert not (tmp_path / "model").exists()


def test_members_with_several_sets_of_scores_are_saved_too(tmp_path):
    bags = load_dataset("needles", n_bags=20)
    inside = BagClassifier(pooling="max", connections="deep supervision", epochs=1)
    model = Ensemble(inside, n=2, random_state=0).fit(bags, bags.labels)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(Ensemble.load(tmp_path / "model").predict_proba(bags), model.predict_proba(bags))
