import json

import numpy as np
import pytest

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.adjusted import Adjusted
from bagwise.evaluation.cross_validation import (
    arrange_values,
    evaluate_split,
    get_metric_values,
    get_pooled_values,
    get_test_share,
    pool_predictions,
    summarise_units,
)
from bagwise.evaluation.protocol import Split, make_repeated_folds
from bagwise.targets.classes import ClassTarget


def compute_bag_metrics(targets, probabilities, threshold=0.5):
    return ClassTarget.unnamed(probabilities.shape[1]).compute_metrics(targets, probabilities, threshold)


ROWS = np.arange(40)
NEEDLES = load_dataset("needles", n_bags=40)
SPLITS = make_repeated_folds(NEEDLES, NEEDLES.labels, n_folds=4, n_repeats=2, seed=1)
METHOD = PooledClassifier()


def make_units(estimator=METHOD, seed=0):
    return [evaluate_split(estimator, NEEDLES, NEEDLES.labels, split, seed) for split in SPLITS]


def test_evaluate_split_returns_plain_json_that_can_be_repeated():
    first, again = (evaluate_split(BagClassifier(epochs=1), NEEDLES, NEEDLES.labels, SPLITS[3], 5) for _ in range(2))
    for unit in (first, again):
        unit.pop("seconds")
    assert json.loads(json.dumps(first)) == first == again
    assert first["metrics"].keys() == {"bags", "weights", "scores", "sharing"}


def test_evaluate_split_fits_on_the_training_bags_only():
    fitted_on = []

    class Recorder(PooledClassifier):
        def fit(self, X, y=None):
            fitted_on.append(X.names.tolist())
            return super().fit(X, y)

    unit = evaluate_split(Recorder(), NEEDLES, NEEDLES.labels, SPLITS[0], 0)
    assert fitted_on == [NEEDLES.names[SPLITS[0].training].tolist()]
    assert unit["rows"] == SPLITS[0].test.tolist()


def test_evaluate_split_validates_on_the_test_bags_only_when_peeking():
    fit_arguments = []

    class Recorder(BagClassifier):
        def fit(self, X, y=None, **arguments):
            fit_arguments.append(arguments)
            return super().fit(X, y, **arguments)

    model = Recorder(epochs=2, engine="torch")
    for peeking in (False, True):
        evaluate_split(model, NEEDLES, NEEDLES.labels, SPLITS[0], 0, peeking=peeking)
    assert fit_arguments[0] == {}
    bags, labels = fit_arguments[1]["validation"]
    assert bags.names.tolist() == NEEDLES.names[SPLITS[0].test].tolist()
    assert labels.tolist() == NEEDLES.labels[SPLITS[0].test].tolist()


def test_evaluate_split_seeds_every_repeat_and_fold_differently():
    seeds = []

    class Recorder(PooledClassifier):
        def fit(self, X, y=None):
            seeds.append(self.random_state)
            return super().fit(X, y)

    make_units(Recorder())
    assert len(set(seeds)) == len(SPLITS)


def test_evaluate_split_decides_by_the_fitted_threshold():
    units = make_units(Adjusted(PooledClassifier(), calibration=False, threshold=True))
    assert len({unit["threshold"] for unit in units}) > 1
    for unit in units:
        predictions = unit["predictions"]["bags"]
        predicted = np.array(predictions["probabilities"])[:, 1] > unit["threshold"]
        assert unit["metrics"]["bags"]["accuracy"] == (predicted == np.array(predictions["targets"])).mean()
    accuracies = get_metric_values(units, "accuracy")  # folds of equal size: the pooled accuracy is their mean
    assert summarise_units(units)["accuracy"].pooled == pytest.approx(accuracies.mean())


def test_evaluate_split_rejects_a_class_without_training_bags():
    labels = np.array(["a", "b", "c", "b"] * 10)
    split = Split(0, 0, np.flatnonzero(labels != "a")[:20], np.flatnonzero(labels == "b")[15:])
    with pytest.raises(InputError, match="no training bag of class 'a'"):
        evaluate_split(METHOD, NEEDLES, labels, split, 0)


def test_summarise_units_averages_over_folds_and_pools_each_repeat():
    units = make_units()
    scores = summarise_units(units)
    accuracies = [unit["metrics"]["bags"]["accuracy"] for unit in units]
    assert scores["accuracy"].errors.mean == pytest.approx(np.mean(accuracies))
    pooled = []
    for repeat in range(2):
        predictions = [unit["predictions"]["bags"] for unit in units if unit["repeat"] == repeat]
        targets = np.concatenate([found["targets"] for found in predictions])
        probabilities = np.concatenate([found["probabilities"] for found in predictions])
        pooled.append(compute_bag_metrics(targets, probabilities)["auc"])
    assert scores["auc"].pooled == pytest.approx(np.mean(pooled))


def test_summarise_units_clips_intervals_to_the_range_of_the_metric():
    for name, scores in summarise_units(make_units()).items():
        low, high = scores.errors.interval
        assert low >= 0
        assert name in ("log_loss", "brier") or high <= 1


def test_summarise_units_summarises_groups_and_key_instances():
    bags = NEEDLES.replace(groups=np.array([f"{label}-{bag // 4}" for bag, label in enumerate(NEEDLES.labels)]))
    splits = make_repeated_folds(bags, bags.labels, n_folds=4, seed=1)
    units = [evaluate_split(BagClassifier(epochs=1), bags, bags.labels, split, 0) for split in splits]
    targets = np.concatenate([unit["predictions"]["groups"]["targets"] for unit in units])
    probabilities = np.concatenate([unit["predictions"]["groups"]["probabilities"] for unit in units])
    assert len(targets) == len(np.unique(bags.groups))
    groups = summarise_units(units, "groups")
    assert groups["accuracy"].pooled == compute_bag_metrics(targets, probabilities)["accuracy"]
    weights = summarise_units(units, "weights")
    values = [unit["metrics"]["weights"]["top_1"] for unit in units]
    assert weights["top_1"].errors.mean == pytest.approx(np.mean([value for value in values if value is not None]))
    assert weights["top_1"].pooled is None


def test_summarise_units_is_empty_for_a_missing_part():
    assert summarise_units(make_units(), "groups") == {}


def test_summarise_units_does_not_pool_groups_with_bags_in_several_folds():
    bags = NEEDLES.replace(groups=np.zeros(40, dtype=int) + NEEDLES.labels)
    splits = [Split(0, 0, ROWS[:20], ROWS[20:]), Split(0, 1, ROWS[20:], ROWS[:20])]
    units = [evaluate_split(METHOD, bags, bags.labels, split, 0) for split in splits]
    assert summarise_units(units, "groups")["accuracy"].pooled is None
    assert summarise_units(units, "groups")["accuracy"].errors.mean is not None


def test_get_metric_values_and_get_test_share_follow_the_protocol():
    units = make_units()
    assert get_metric_values(units, "auc").shape == (2, 4)
    assert get_test_share(units) == pytest.approx(10 / 30)


def test_arrange_values_leaves_gaps_where_units_are_missing():
    units = [{"repeat": 0, "fold": 1}, {"repeat": 1, "fold": 0}, {"repeat": 1, "fold": 1}]
    np.testing.assert_array_equal(arrange_values(units, [1.0, None, 3.0]), [[np.nan, 1.0], [np.nan, 3.0]])


def test_pool_predictions_has_each_bag_once_per_repeat():
    units = make_units()
    pooled = pool_predictions(units)
    assert len(pooled) == 2
    for repeat, found in enumerate(pooled):
        rows = np.concatenate([unit["rows"] for unit in units if unit["repeat"] == repeat])
        np.testing.assert_array_equal(found.targets, NEEDLES.labels[rows])
        assert compute_bag_metrics(found.targets, found.outputs)["auc"] == get_pooled_values(units, "auc")[repeat]
