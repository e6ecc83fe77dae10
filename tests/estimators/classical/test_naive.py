import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.classical.naive import NaiveClassifier

GENERATOR = np.random.default_rng(6)
SIZES = np.array([1, 4, 2, 9] * 6)
BAGS = Bags.from_list([GENERATOR.normal(size=(size, 3)) for size in SIZES])


def predict_instances(labels):
    classifier = LogisticRegression().fit(BAGS.instances, labels.repeat(SIZES))
    return np.split(classifier.predict_proba(BAGS.instances), BAGS.offsets[1:-1])


def fit_naive(labels, pooling):
    return NaiveClassifier(LogisticRegression(), pooling, scaling="none").fit(BAGS, labels)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_mean_pooling_averages_the_probabilities_of_the_instances(n_classes):
    labels = np.arange(24) % n_classes
    model = fit_naive(labels, "mean")
    expected = [probabilities.mean(axis=0) for probabilities in predict_instances(labels)]
    np.testing.assert_allclose(model.predict_proba(BAGS), expected, rtol=1e-10)
    np.testing.assert_allclose(model.weigh(BAGS), (1 / SIZES).repeat(SIZES))


def test_max_pooling_takes_the_most_positive_instance_of_two_classes():
    labels = np.arange(24) % 2
    model = fit_naive(labels, "max")
    own = predict_instances(labels)
    np.testing.assert_allclose(model.predict_proba(BAGS)[:, 1], [each[:, 1].max() for each in own], rtol=1e-10)
    winners = np.concatenate([np.arange(len(each)) == each[:, 1].argmax() for each in own])
    np.testing.assert_array_equal(model.weigh(BAGS), winners.astype(float))


def test_max_pooling_takes_the_maximum_of_each_of_several_classes():
    labels = np.arange(24) % 3
    model = fit_naive(labels, "max")
    maxima = np.array([each.max(axis=0) for each in predict_instances(labels)])
    np.testing.assert_allclose(model.predict_proba(BAGS), maxima / maxima.sum(axis=1, keepdims=True), rtol=1e-10)


def test_score_instances_returns_log_odds():
    labels = np.arange(24) % 2
    own = np.concatenate(predict_instances(labels))
    np.testing.assert_allclose(
        fit_naive(labels, "mean").score_instances(BAGS), np.log(own[:, 1] / own[:, 0]), atol=1e-10
    )
    labels = np.arange(24) % 3
    scores = fit_naive(labels, "max").score_instances(BAGS)
    np.testing.assert_allclose(scores, np.log(np.concatenate(predict_instances(labels))), rtol=1e-10)


def test_score_instances_is_finite_for_certain_predictions():
    model = NaiveClassifier(DecisionTreeClassifier(), random_state=0).fit(BAGS, np.arange(24) % 2)
    assert np.isfinite(model.score_instances(BAGS)).all()
    assert np.isfinite(model.decision_function(BAGS)).all()


def test_fit_rejects_an_unknown_pooling_by_name():
    with pytest.raises(InputError, match="pooling 'median' is unknown"):
        NaiveClassifier(pooling="median").fit(BAGS, np.arange(24) % 2)


def test_score_instances_finds_the_key_instances():
    training, test = (load_dataset("needles", n_bags=100, seed=seed) for seed in (1, 2))
    scores = NaiveClassifier(LogisticRegression()).fit(training, training.labels).score_instances(test)
    is_key = test.instance_labels == 1
    assert scores[is_key].mean() > scores[~is_key].mean() + 1
