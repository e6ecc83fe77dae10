import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator, NaiveClassifier, PooledClassifier
from bagwise.estimators.wrapped.wrapping import scores_of
from bagwise.likelihoods import Bernoulli, Categorical

DRAWS = np.random.default_rng(3)
NEEDLES = load_dataset("needles", n_bags=40)
THREE = NEEDLES.labels + (np.arange(40) % 3 == 0)
KINDS = [PooledClassifier, NaiveClassifier]


@pytest.mark.parametrize("labels", [NEEDLES.labels, THREE], ids=["two", "three"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "classifier",
    [LogisticRegression(), RandomForestClassifier(7), SVC(), RidgeClassifier(), make_pipeline(StandardScaler(), SVC())],
    ids=str,
)
def test_any_classifier_is_fitted_saved_and_loaded(tmp_path, kind, classifier, labels):
    model = kind(classifier, random_state=4).fit(NEEDLES, labels)
    model.save(tmp_path / "model")
    again = BagEstimator.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(NEEDLES), model.predict_proba(NEEDLES))
    np.testing.assert_array_equal(again.weigh(NEEDLES), model.weigh(NEEDLES))
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(again.fit(NEEDLES, labels).predict_proba(NEEDLES), model.predict_proba(NEEDLES))


def test_scores_are_log_odds_and_finite_at_the_ends():
    probabilities = np.array([[0.25, 0.75], [1.0, 0.0], [0.0, 1.0]])
    scores = scores_of(probabilities, Bernoulli())
    np.testing.assert_allclose(scores[0], np.log(3))
    assert np.isfinite(scores).all()
    assert scores[1] < -20 < 20 < scores[2]
    np.testing.assert_allclose(scores_of(probabilities, Categorical(2))[0], np.log([0.25, 0.75]))


def test_decisions_of_a_classifier_without_probabilities_are_scores():
    rows, labels = DRAWS.normal(size=(50, 3)), np.arange(50) % 2
    ours = PooledClassifier(LinearSVC(dual=False), ["mean"], standardize=False).fit(rows, labels)
    theirs = LinearSVC(dual=False).fit(rows, labels).decision_function(rows)
    np.testing.assert_allclose(ours.decision_function(rows), theirs, atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(rows)[:, 1], 1 / (1 + np.exp(-theirs)), rtol=1e-12)


def test_seeds_are_given_where_there_is_none():
    free, fixed = ExtraTreesClassifier(3), ExtraTreesClassifier(3, random_state=8)
    seeds = [
        PooledClassifier(classifier, random_state=seed).fit(NEEDLES, NEEDLES.labels).learned_.classifier.random_state
        for classifier in (free, fixed)
        for seed in (1, 1, 2)
    ]
    assert seeds[0] == seeds[1] != seeds[2]
    assert seeds[3:] == [8, 8, 8]
    inside = PooledClassifier(make_pipeline(StandardScaler(), free), random_state=1).fit(NEEDLES, NEEDLES.labels)
    assert inside.learned_.classifier[-1].random_state is not None
    assert free.random_state is None


@pytest.mark.parametrize("estimator", [LinearRegression(), StandardScaler(), "forest", LogisticRegression])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_classifier_is_refused(kind, estimator):
    with pytest.raises(InputError, match="give a classifier of scikit-learn"):
        kind(estimator).fit(NEEDLES, NEEDLES.labels)


def test_pairwise_decisions_are_refused():
    bags = Bags(DRAWS.normal(size=(40, 3)), np.arange(41))
    with pytest.raises(InputError, match="decision_function_shape"):
        PooledClassifier(SVC(decision_function_shape="ovo")).fit(bags, np.arange(40) % 3)  # of which there are three
