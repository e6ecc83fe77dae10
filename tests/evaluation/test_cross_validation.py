import json

import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.estimators import Adjusted, BagClassifier, BagEstimator, PooledClassifier
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
    assert first["metrics"].keys() == {"bags", "weights", "scores"}


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
    assert scores.errors.mean == pytest.approx(np.mean([unit["metrics"]["bags"]["accuracy"] for unit in found]))
    pooled = []
    for repeat in range(2):
        own = [unit for unit in found if unit["repeat"] == repeat]
        targets = np.concatenate([unit["predictions"]["bags"]["targets"] for unit in own])
        chances = np.concatenate([unit["predictions"]["bags"]["probabilities"] for unit in own])
        pooled.append(bag_metrics(targets, chances)["auc"])
    assert summarise_units(found)["auc"].pooled == pytest.approx(np.mean(pooled))
    assert metric_values(found, "auc").shape == (2, 4)
    assert share_of(found) == pytest.approx(10 / 30)


def test_groups_and_key_instances_are_summarised_beside_the_bags():
    bags = NEEDLES.replace(groups=np.arange(40) // 2)
    splits = repeated_folds(bags, bags.labels, n_folds=4, seed=1)
    found = [judge_split(BagClassifier(epochs=1), bags, bags.labels, split, 0) for split in splits]
    groups = summarise_units(found, "groups")
    targets = np.concatenate([unit["predictions"]["groups"]["targets"] for unit in found])
    chances = np.concatenate([unit["predictions"]["groups"]["probabilities"] for unit in found])
    assert len(targets) == 20
    assert groups["accuracy"].pooled == bag_metrics(targets, chances)["accuracy"]
    weights = summarise_units(found, "weights")
    values = [unit["metrics"]["weights"]["top_1"] for unit in found]
    assert weights["top_1"].errors.mean == pytest.approx(np.mean([value for value in values if value is not None]))
    assert weights["top_1"].pooled is None
    assert summarise_units(units(), "groups") == {}


def test_every_fold_decides_by_the_threshold_it_learned():
    model = Adjusted(PooledClassifier(), temperature=False, threshold=True)
    found = units(model)
    assert len({unit["threshold"] for unit in found}) > 1
    for unit in found:
        own = unit["predictions"]["bags"]
        decided = np.array(own["probabilities"])[:, 1] > unit["threshold"]
        assert unit["metrics"]["bags"]["accuracy"] == (decided == np.array(own["targets"])).mean()
    accuracies = metric_values(found, "accuracy")  # folds of equal size: the pooled accuracy is their mean
    assert summarise_units(found)["accuracy"].pooled == pytest.approx(accuracies.mean())
