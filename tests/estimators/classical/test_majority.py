"""The majority baseline."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.classical.majority import MajorityClassifier

LABELS = np.array(["a", "b", "c", "c", "b", "c"])
BAGS = [np.full((size, 2), size) for size in (1, 2, 3, 1, 2, 3)]


def test_majority_predicts_the_shares_of_the_classes_as_scikit_learn_does():
    model = MajorityClassifier().fit(BAGS, LABELS)
    oracle = DummyClassifier(strategy="prior").fit(np.zeros((6, 1)), LABELS)
    np.testing.assert_array_equal(model.predict_proba(BAGS), oracle.predict_proba(np.zeros((6, 1))))
    assert set(model.predict(BAGS)) == {"c"}


def test_majority_weighs_the_instances_of_a_bag_equally():
    weights = MajorityClassifier().fit(BAGS, LABELS).weigh(BAGS)
    np.testing.assert_allclose(weights, [1, 1 / 2, 1 / 2, *[1 / 3] * 3] * 2)


def test_majority_scores_are_the_log_odds_of_its_probabilities():
    bags = load_dataset("needles", n_bags=20)
    model = MajorityClassifier().fit(bags, np.arange(20) < 5)
    np.testing.assert_allclose(model.decision_function(bags), np.log(0.25 / 0.75))


def test_majority_rejects_saved_shares_that_do_not_sum_to_one(tmp_path):
    model = MajorityClassifier().fit(BAGS, LABELS)
    model.class_shares_ = np.array([0.5, 0.5, 0.5])
    model.save(tmp_path / "model")
    with pytest.raises(InputError, match="do not sum to one"):
        MajorityClassifier.load(tmp_path / "model")
