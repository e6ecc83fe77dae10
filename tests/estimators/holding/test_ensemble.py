import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from torch import nn

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import (
    BagClassifier,
    BagEstimator,
    Ensemble,
    MiFV,
    MiVLAD,
    NaiveClassifier,
    PooledClassifier,
)

NEEDLES = load_dataset("needles", n_bags=30)
TEST = load_dataset("needles", n_bags=30, seed=1)
WORDS = np.where(NEEDLES.labels == 1, "tumour", "normal")
NETWORK = BagClassifier(epochs=1, batch_size=8)
FOREST = PooledClassifier(ExtraTreesClassifier(5))
NAIVE = NaiveClassifier(ExtraTreesClassifier(5))
MEMBERS = [NETWORK, FOREST, NAIVE, MiVLAD(3, calibration=2), Ensemble(FOREST, n=2)]


@pytest.fixture(scope="module", params=MEMBERS, ids=lambda member: type(member).__name__)
def ensemble(request):
    return Ensemble(request.param, n=3, random_state=7).fit(NEEDLES, WORDS)


def test_it_says_what_its_members_say_on_average(ensemble):
    members = [clone(ensemble.estimator).set_params(random_state=each.random_state) for each in ensemble.members_]
    judged = [member.fit(NEEDLES, WORDS).judge(TEST) for member in members]
    assert len({member.random_state for member in members}) == 3
    probabilities, weights = map(np.array, zip(*judged, strict=True))
    np.testing.assert_array_equal(ensemble.predict_proba(TEST), probabilities.mean(axis=0))
    np.testing.assert_array_equal(ensemble.weigh(TEST), weights.mean(axis=0))
    np.testing.assert_array_equal(ensemble.judge(TEST).probabilities, probabilities.mean(axis=0))
    np.testing.assert_array_equal(ensemble.judge(TEST).weights, weights.mean(axis=0))
    assert np.ptp(probabilities, axis=0).max() > 0, "members with different seeds differ"


def test_the_spread_is_the_deviation_over_members(ensemble):
    spread = ensemble.spread(TEST)
    first, second, third = (member.predict_proba(TEST) for member in ensemble.members_)
    mean = (first + second + third) / 3
    expected = (((first - mean) ** 2 + (second - mean) ** 2 + (third - mean) ** 2) / 3) ** 0.5
    np.testing.assert_allclose(spread.probabilities, expected, atol=1e-12)
    weights = np.array([member.weigh(TEST) for member in ensemble.members_])
    np.testing.assert_allclose(spread.weights, np.sqrt(((weights - weights.mean(axis=0)) ** 2).mean(axis=0)), atol=1e-9)


def test_scores_have_the_mean_probabilities(ensemble):
    decisions = ensemble.decision_function(TEST)
    np.testing.assert_allclose(1 / (1 + np.exp(-decisions)), ensemble.predict_proba(TEST)[:, 1], atol=1e-10)


def test_saved_and_loaded_it_predicts_the_same_bits(ensemble, tmp_path):
    ensemble.save(tmp_path / "model")
    again = BagEstimator.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(TEST), ensemble.predict_proba(TEST))
    np.testing.assert_array_equal(again.spread(TEST).weights, ensemble.spread(TEST).weights)
    assert repr(again) == repr(ensemble)
    assert [each.random_state for each in again.members_] == [each.random_state for each in ensemble.members_]
    again.members_[1].save(tmp_path / "member")
    alone = BagEstimator.load(tmp_path / "member")
    np.testing.assert_array_equal(alone.predict_proba(TEST), ensemble.members_[1].predict_proba(TEST))


def test_an_ensemble_of_one_is_its_member():
    one = Ensemble(FOREST, n=1, random_state=3).fit(NEEDLES, WORDS)
    member = one.members_[0]
    np.testing.assert_array_equal(one.predict_proba(TEST), member.predict_proba(TEST))
    np.testing.assert_array_equal(one.weigh(TEST), member.weigh(TEST))
    assert not one.spread(TEST).probabilities.any()


def test_instances_are_scored_where_the_members_score_them():
    assert not hasattr(Ensemble(FOREST), "score_instances")
    scored = Ensemble(NAIVE, n=2, random_state=0).fit(NEEDLES, WORDS)
    alone = Bags(TEST.instances, np.arange(TEST.n_instances + 1))
    odds = [member.predict_proba(alone)[:, 1] for member in scored.members_]
    mean = np.clip(np.mean(odds, axis=0), 1e-12, 1 - 1e-12)
    np.testing.assert_allclose(scored.score_instances(TEST), np.log(mean / (1 - mean)), atol=1e-3)


def test_several_classes():
    labels = np.arange(30) % 3
    three = Ensemble(PooledClassifier(LogisticRegression()), n=2, random_state=0).fit(NEEDLES, labels)
    assert three.decision_function(TEST).shape == (30, 3)
    np.testing.assert_allclose(three.predict_proba(TEST).sum(axis=1), 1)


def test_parameters_of_the_members_can_be_searched():
    grid = GridSearchCV(Ensemble(MiFV(calibration=0), n=2), {"estimator__C": [0.1, 1.0]}, cv=2).fit(NEEDLES, WORDS)
    assert grid.best_params_["estimator__C"] == grid.best_estimator_.members_[0].C


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n": 0}, "n is 0"),
        ({"n": 2.5}, "n is 2.5"),
        ({"estimator": LogisticRegression()}, "give an estimator of bags"),
    ],
    ids=str,
)
def test_what_makes_no_ensemble_is_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        Ensemble(**parameters).fit(NEEDLES, WORDS)


def test_modules_of_the_users_own_are_refused_when_it_is_saved(tmp_path):
    network = BagClassifier(encoder=nn.Linear(16, 4), epochs=1, batch_size=8)
    with pytest.raises(InputError, match="a module of your own for encoder"):
        Ensemble(network, n=1).fit(NEEDLES, WORDS).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_members_with_several_sets_of_scores_are_saved_too(tmp_path):
    bags = load_dataset("needles", n_bags=20)
    inside = BagClassifier(pooling="max", connections="deep supervision", epochs=1)
    model = Ensemble(inside, n=2, random_state=0).fit(bags, bags.labels)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(Ensemble.load(tmp_path / "model").predict_proba(bags), model.predict_proba(bags))


@pytest.mark.parametrize("member", [BagClassifier(epochs=2), PooledClassifier()], ids=["threads", "processes"])
def test_the_number_of_workers_changes_nothing(member):
    alone, together = (
        Ensemble(member, n=3, workers=workers, random_state=0).fit(NEEDLES, NEEDLES.labels) for workers in (1, 2)
    )
    np.testing.assert_array_equal(alone.predict_proba(NEEDLES), together.predict_proba(NEEDLES))
    np.testing.assert_array_equal(alone.weigh(NEEDLES), together.weigh(NEEDLES))


def test_members_with_modules_of_the_users_own_are_trained_in_processes_to_the_same_bits():
    encoder = nn.Sequential(nn.Linear(16, 4), nn.Dropout(0.5))
    alone, together = (
        Ensemble(BagClassifier(encoder=encoder, epochs=2), n=2, workers=workers, random_state=0).fit(
            NEEDLES, NEEDLES.labels
        )
        for workers in (1, 2)
    )
    np.testing.assert_array_equal(alone.predict_proba(NEEDLES), together.predict_proba(NEEDLES))
