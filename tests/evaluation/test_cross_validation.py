import json

import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.estimators import BagClassifier, BagEstimator, PooledClassifier
from bagwise.evaluation.bag_metrics import bag_metrics
from bagwise.evaluation.cross_validation import judge_split, metric_values, summarise_units
from bagwise.evaluation.cross_validation import test_share as share_of
from bagwise.evaluation.protocol import repeated_folds

NEEDLES = load_dataset("needles", n_bags=40)
SPLITS = repeated_folds(NEEDLES, NEEDLES.labels, n_folds=4, n_repeats=2, seed=1)
METHOD = PooledClassifier()


def units(estimator=METHOD, seed=0):
    return [judge_split(estimator, NEEDLES, NEEDLES.labels, split, seed) for split in SPLITS]


def test_a_unit_is_plain_json_and_the_same_again():
    first, again = (judge_split(BagClassifier(epochs=1), NEEDLES, NEEDLES.labels, SPLITS[3], 5) for _ in range(2))
    for unit in (first, again):
        unit.pop("seconds")
    assert json.loads(json.dumps(first)) == first == again
    assert first["instances"].keys() == {"weights", "scores"}


def test_the_estimator_sees_the_training_bags_of_the_split_and_no_others():
    seen = []

    class Watcher(PooledClassifier):
        def fit(self, X, y=None):
            seen.append(X.names.tolist())
            return super().fit(X, y)

    unit = judge_split(Watcher(), NEEDLES, NEEDLES.labels, SPLITS[0], 0)
    assert seen == [NEEDLES.names[SPLITS[0].training].tolist()]
    assert unit["rows"] == SPLITS[0].test.tolist()
    assert isinstance(Watcher(), BagEstimator)


def test_summaries_are_means_over_folds_and_pooled_over_each_repeat():
    found = units()
    scores = summarise_units(found)["accuracy"]
    assert scores.errors.mean == pytest.approx(np.mean([unit["metrics"]["accuracy"] for unit in found]))
    pooled = []
    for repeat in range(2):
        own = [unit for unit in found if unit["repeat"] == repeat]
        targets = np.concatenate([unit["targets"] for unit in own])
        pooled.append(bag_metrics(targets, np.concatenate([unit["probabilities"] for unit in own]))["auc"])
    assert summarise_units(found)["auc"].pooled == pytest.approx(np.mean(pooled))
    assert metric_values(found, "auc").shape == (2, 4)
    assert share_of(found) == pytest.approx(10 / 30)
