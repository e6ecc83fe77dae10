import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import NaiveClassifier

DRAWS = np.random.default_rng(6)
SIZES = np.array([1, 4, 2, 9] * 6)
BAGS = Bags.from_list([DRAWS.normal(size=(size, 3)) for size in SIZES])


def instance_probabilities(labels):
    classifier = LogisticRegression().fit(BAGS.instances, labels.repeat(SIZES))
    return np.split(classifier.predict_proba(BAGS.instances), BAGS.offsets[1:-1])


def fitted(labels, pooling):
    return NaiveClassifier(LogisticRegression(), pooling, standardize=False).fit(BAGS, labels)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_mean_is_the_mean_of_the_instances_probabilities(n_classes):
    labels = np.arange(24) % n_classes
    model = fitted(labels, "mean")
    expected = [probabilities.mean(axis=0) for probabilities in instance_probabilities(labels)]
    np.testing.assert_allclose(model.predict_proba(BAGS), expected, rtol=1e-10)
    np.testing.assert_allclose(model.weigh(BAGS), (1 / SIZES).repeat(SIZES))


def test_max_is_the_likeliest_instance_of_two_classes():
    labels = np.arange(24) % 2
    model = fitted(labels, "max")
    own = instance_probabilities(labels)
    np.testing.assert_allclose(model.predict_proba(BAGS)[:, 1], [each[:, 1].max() for each in own], rtol=1e-10)
    winners = np.concatenate([np.arange(len(each)) == each[:, 1].argmax() for each in own])
    np.testing.assert_array_equal(model.weigh(BAGS), winners.astype(float))


def test_max_of_several_classes_is_taken_class_by_class():
    labels = np.arange(24) % 3
    model = fitted(labels, "max")
    peaks = np.array([each.max(axis=0) for each in instance_probabilities(labels)])
    np.testing.assert_allclose(model.predict_proba(BAGS), peaks / peaks.sum(axis=1, keepdims=True), rtol=1e-10)


def test_instance_scores_are_log_odds():
    labels = np.arange(24) % 2
    own = np.concatenate(instance_probabilities(labels))
    np.testing.assert_allclose(fitted(labels, "mean").score_instances(BAGS), np.log(own[:, 1] / own[:, 0]), atol=1e-10)
    labels = np.arange(24) % 3
    scores = fitted(labels, "max").score_instances(BAGS)
    np.testing.assert_allclose(scores, np.log(np.concatenate(instance_probabilities(labels))), rtol=1e-10)


def test_instances_that_are_certain_have_finite_scores():
    model = NaiveClassifier(DecisionTreeClassifier(), random_state=0).fit(BAGS, np.arange(24) % 2)
    assert np.isfinite(model.score_instances(BAGS)).all()
    assert np.isfinite(model.decision_function(BAGS)).all()


def test_an_unknown_pooling_is_refused_before_the_fit():
    with pytest.raises(InputError, match="pooling 'median' is unknown"):
        NaiveClassifier(pooling="median").fit(BAGS, np.arange(24) % 2)


def test_its_scores_find_needles():
    training, test = (load_dataset("needles", n_bags=100, seed=seed) for seed in (1, 2))
    scores = NaiveClassifier(LogisticRegression()).fit(training, training.labels).score_instances(test)
    needle = test.instance_labels == 1
    assert scores[needle].mean() > scores[~needle].mean() + 1
