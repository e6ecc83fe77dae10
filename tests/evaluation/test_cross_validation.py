import json

import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import Adjusted, BagClassifier, BagEstimator, PooledClassifier
from bagwise.evaluation.bag_metrics import bag_metrics
from bagwise.evaluation.cross_validation import judge_split, metric_values, summarise_units
from bagwise.evaluation.cross_validation import test_share as share_of
from bagwise.evaluation.protocol import Split, repeated_folds

ROWS = np.arange(40)
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
    assert first["metrics"].keys() == {"bags", "weights", "scores", "sharing"}


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


def test_peeking_lets_the_test_bags_choose_the_epoch_and_nothing_else_does():
    seen = []

    class Watcher(BagClassifier):
        def fit(self, X, y=None, **words):
            seen.append(words)
            return super().fit(X, y, **words)

    model = Watcher(epochs=2, engine="torch")
    for peeking in (False, True):
        judge_split(model, NEEDLES, NEEDLES.labels, SPLITS[0], 0, peeking=peeking)
    assert seen[0] == {}
    bags, labels = seen[1]["validation"]
    assert bags.names.tolist() == NEEDLES.names[SPLITS[0].test].tolist()
    assert labels.tolist() == NEEDLES.labels[SPLITS[0].test].tolist()


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
    bags = NEEDLES.replace(groups=np.array([f"{label}-{bag // 4}" for bag, label in enumerate(NEEDLES.labels)]))
    splits = repeated_folds(bags, bags.labels, n_folds=4, seed=1)
    found = [judge_split(BagClassifier(epochs=1), bags, bags.labels, split, 0) for split in splits]
    groups = summarise_units(found, "groups")
    targets = np.concatenate([unit["predictions"]["groups"]["targets"] for unit in found])
    chances = np.concatenate([unit["predictions"]["groups"]["probabilities"] for unit in found])
    assert len(targets) == len(np.unique(bags.groups))
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


def test_a_class_that_was_never_learned_is_refused_not_miscounted():
    labels = np.array(["a", "b", "c", "b"] * 10)
    lacking = Split(0, 0, np.flatnonzero(labels != "a")[:20], np.flatnonzero(labels == "b")[15:])
    with pytest.raises(InputError, match="no training bag of class 'a'"):
        judge_split(METHOD, NEEDLES, labels, lacking, 0)


def test_every_repeat_and_fold_has_a_seed_of_its_own():
    seeds = []

    class Watcher(PooledClassifier):
        def fit(self, X, y=None):
            seeds.append(self.random_state)
            return super().fit(X, y)

    units(Watcher())
    assert len(set(seeds)) == len(SPLITS)


def test_no_interval_leaves_the_range_of_its_metric():
    scores = summarise_units(units())
    for name, found in scores.items():
        low, high = found.errors.interval
        assert low >= 0
        assert name in ("log_loss", "brier") or high <= 1


def test_groups_in_pieces_are_not_pooled():
    bags = NEEDLES.replace(groups=np.zeros(40, dtype=int) + NEEDLES.labels)
    splits = [Split(0, 0, ROWS[:20], ROWS[20:]), Split(0, 1, ROWS[20:], ROWS[:20])]
    found = [judge_split(METHOD, bags, bags.labels, split, 0) for split in splits]
    assert summarise_units(found, "groups")["accuracy"].pooled is None
    assert summarise_units(found, "groups")["accuracy"].errors.mean is not None
