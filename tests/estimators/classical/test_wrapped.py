from itertools import cycle, product

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.naive import NaiveClassifier
from bagwise.estimators.classical.pooled import PooledClassifier

GENERATOR = np.random.default_rng(3)
NEEDLES = load_dataset("needles", n_bags=40)
LABELS = {"two classes": NEEDLES.labels, "three classes": NEEDLES.labels + (np.arange(40) % 3 == 0)}
KINDS = [PooledClassifier, NaiveClassifier]
CLASSIFIERS = [
    LogisticRegression(),
    RandomForestClassifier(7),
    SVC(),
    RidgeClassifier(),
    make_pipeline(StandardScaler(), SVC()),
]
PAIRS = list(product(KINDS, LABELS))
QUICK_CASES = [(*pair, classifier) for pair, classifier in zip(cycle(PAIRS), CLASSIFIERS, strict=False)]
FULL_CASES = [
    pytest.param(*pair, classifier, marks=pytest.mark.full)
    for pair, classifier in product(PAIRS, CLASSIFIERS)
    if (*pair, classifier) not in QUICK_CASES
]


def name_value(value):
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize(("kind", "labels", "classifier"), [*QUICK_CASES, *FULL_CASES], ids=name_value)
def test_load_restores_any_classifier_bit_identically(tmp_path, kind, labels, classifier):
    labels = LABELS[labels]
    model = kind(classifier, random_state=4).fit(NEEDLES, labels)
    model.save(tmp_path / "model")
    loaded = BagEstimator.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(NEEDLES), model.predict_proba(NEEDLES))
    np.testing.assert_array_equal(loaded.weigh(NEEDLES), model.weigh(NEEDLES))
    assert repr(loaded) == repr(model)
    np.testing.assert_array_equal(loaded.fit(NEEDLES, labels).predict_proba(NEEDLES), model.predict_proba(NEEDLES))


def test_decision_function_equals_that_of_a_classifier_without_probabilities():
    rows, labels = GENERATOR.normal(size=(50, 3)), np.arange(50) % 2
    model = PooledClassifier(LinearSVC(dual=False), ["mean"], scaling="none").fit(rows, labels)
    expected = LinearSVC(dual=False).fit(rows, labels).decision_function(rows)
    np.testing.assert_allclose(model.decision_function(rows), expected, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], 1 / (1 + np.exp(-expected)), rtol=1e-12)


def test_fit_sets_every_random_state_of_the_classifier_that_is_none():
    unseeded, seeded = ExtraTreesClassifier(3), ExtraTreesClassifier(3, random_state=8)
    seeds = [
        PooledClassifier(classifier, random_state=seed).fit(NEEDLES, NEEDLES.labels).learned_.classifier.random_state
        for classifier in (unseeded, seeded)
        for seed in (1, 1, 2)
    ]
    assert seeds[0] == seeds[1] != seeds[2]
    assert seeds[3:] == [8, 8, 8]
    nested = PooledClassifier(make_pipeline(StandardScaler(), unseeded), random_state=1).fit(NEEDLES, NEEDLES.labels)
    assert nested.learned_.classifier[-1].random_state is not None
    assert unseeded.random_state is None


@pytest.mark.parametrize("estimator", [LinearRegression(), StandardScaler(), "forest", LogisticRegression])
@pytest.mark.parametrize("kind", KINDS)
def test_fit_rejects_values_that_are_not_classifiers(kind, estimator):
    with pytest.raises(InputError, match=r"estimator is .*; it must be a scikit-learn classifier"):
        kind(estimator).fit(NEEDLES, NEEDLES.labels)


def test_fit_rejects_one_score_per_pair_of_classes():
    bags = Bags(GENERATOR.normal(size=(40, 3)), np.arange(41))
    with pytest.raises(
        InputError,
        match="one score per pair of classes; set decision_function_shape='ovr'",
    ):
        PooledClassifier(SVC(decision_function_shape="ovo")).fit(bags, np.arange(40) % 3)
