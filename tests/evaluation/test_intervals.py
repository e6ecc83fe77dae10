import json
import time

import numpy as np
import pytest
from scipy import stats

from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.evaluation import intervals
from bagwise.evaluation.cross_validation import evaluate_split, summarise_units
from bagwise.evaluation.intervals import (
    bootstrap_intervals,
    compare_paired,
    compute_corrected_error,
    compute_errors,
    compute_percentiles,
    list_targets,
    read_targets,
    resample_bags,
    resample_difference,
    resample_metrics,
    share_test_bags,
)
from bagwise.evaluation.protocol import Split
from bagwise.nn import random_streams
from bagwise.nn.random_streams import Purpose
from bagwise.targets.classes import ClassTarget

TWO_CLASSES = ClassTarget.unnamed(2)


def compute_bag_metrics(targets, probabilities, threshold=0.5):
    return ClassTarget.unnamed(probabilities.shape[1]).compute_metrics(targets, probabilities, threshold)


GENERATOR = np.random.default_rng(0)
VALUES = GENERATOR.normal(0.8, 0.05, (5, 10))  # of five repeats of ten folds

NEEDLES = load_dataset("needles", n_bags=40)
ROWS = np.arange(40)


def make_predictions(accuracy, n_bags):
    targets = np.arange(n_bags) % 2
    correct = np.arange(n_bags) < accuracy * n_bags
    return targets, np.where((targets == 1) == correct, 0.8, 0.2)[:, None] * [[-1, 1]] + [[1, 0]]


def make_units(repeats=2):
    """Fits that share their test bags."""
    splits = [Split(repeat, 0, ROWS[:25], ROWS[25:]) for repeat in range(repeats)]
    return [evaluate_split(PooledClassifier(), NEEDLES, NEEDLES.labels, split, 0) for split in splits]


@pytest.fixture
def few_resamples(monkeypatch):
    monkeypatch.setattr(intervals, "N_RESAMPLES", 50)


def test_bootstrap_intervals_of_accuracy_are_close_to_the_binomial_interval():
    """80 of 100 correct: the percentile interval is close to 0.8 ± 1.96 · 0.04."""
    targets, probabilities = make_predictions(0.8, 100)
    low, high = bootstrap_intervals(TWO_CLASSES, targets, probabilities)["accuracy"]
    assert abs(low - 0.72) < 0.02
    assert abs(high - 0.88) < 0.02


def test_bootstrap_intervals_of_whole_groups_are_wider():
    targets, probabilities = make_predictions(0.8, 100)
    groups = np.arange(100) // 10  # the bags of a group are all correct or all wrong
    low, high = bootstrap_intervals(TWO_CLASSES, targets, probabilities, groups)["accuracy"]
    ungrouped_low, ungrouped_high = bootstrap_intervals(TWO_CLASSES, targets, probabilities)["accuracy"]
    assert high - low > 1.5 * (ungrouped_high - ungrouped_low)


def test_bootstrap_intervals_are_the_same_for_the_same_seed():
    targets, probabilities = make_predictions(0.7, 40)
    assert bootstrap_intervals(TWO_CLASSES, targets, probabilities, seed=1) == bootstrap_intervals(
        TWO_CLASSES, targets, probabilities, seed=1
    )


def test_bootstrap_intervals_are_none_where_a_metric_is_never_defined():
    assert bootstrap_intervals(TWO_CLASSES, np.zeros(5, dtype=int), np.tile([0.9, 0.1], (5, 1)))["auc"] is None


def test_bootstrap_intervals_are_none_with_one_group_per_class():
    """Most resamples lack a class; the few that have all of them are the bags themselves."""
    targets, groups = np.repeat([0, 1, 2], 3), np.repeat(["a", "b", "c"], 3)
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), 9)
    found = bootstrap_intervals(TWO_CLASSES, targets, probabilities, groups)
    assert found["auc"] is None
    assert found["accuracy"] is not None


def test_resample_bags_samples_whole_groups(monkeypatch):
    """Three groups of different sizes, whose bags are not contiguous."""
    monkeypatch.setattr(intervals, "N_RESAMPLES", 20)
    resamples = list(resample_bags(6, np.array(["b", "a", "c", "b", "b", "a"]), seed=4))
    members = {"a": [1, 5], "b": [0, 3, 4], "c": [2]}
    generator = random_streams.make_generator(4, Purpose.BOOTSTRAP)
    for rows in resamples:
        assert rows.tolist() == [bag for group in generator.integers(3, size=3) for bag in members["abc"[group]]]
    assert len(resamples) == 20


def test_bootstrap_intervals_take_less_than_quadratic_time(monkeypatch):
    monkeypatch.setattr(intervals, "N_RESAMPLES", 1)
    started = time.process_time()
    bootstrap_intervals(TWO_CLASSES, *make_predictions(0.8, 300_000))
    assert time.process_time() - started < 5  # comparing every bag with every other takes a minute


def test_compute_errors_follows_the_definition_of_each_error():
    errors = compute_errors(VALUES, test_share=1 / 9)
    assert errors.mean == pytest.approx(VALUES.mean())
    assert errors.spread == pytest.approx(np.std([row.mean() for row in VALUES], ddof=1))
    assert errors.standard_error == pytest.approx(errors.spread / np.sqrt(5))
    assert errors.fold_standard_error == pytest.approx(np.mean([stats.sem(row) for row in VALUES]))
    assert errors.corrected_error == pytest.approx(np.sqrt((1 / 50 + 1 / 9) * np.var(VALUES.ravel(), ddof=1)))
    low, high = stats.t.interval(0.95, 49, loc=errors.mean, scale=errors.corrected_error)
    assert errors.interval == pytest.approx((low, high))


def test_compute_errors_leaves_out_undefined_folds():
    values = VALUES.copy()
    values[0, 3] = np.nan
    assert compute_errors(values, 1 / 9).mean == pytest.approx(np.nanmean(values))
    assert compute_errors(values, 1 / 9).n_defined == 49
    undefined = compute_errors(np.full((2, 2), np.nan), 0.1)
    assert (undefined.mean, undefined.interval, undefined.interval_by, undefined.n_defined) == (None, None, None, 0)


def test_compute_errors_of_one_value_are_none():
    errors = compute_errors(np.array([[0.7]]), 0.1)
    assert (errors.mean, errors.spread, errors.corrected_error, errors.interval) == (0.7, None, None, None)


def test_compute_corrected_error_covers_the_truth_where_the_naive_error_does_not():
    """Folds share a common error, as overlapping training sets do, which the naive error ignores."""
    naive = corrected = 0
    for _ in range(400):
        scores = GENERATOR.normal(0, 1 / 3) + GENERATOR.normal(0, 1, 10)  # a correlation of 0.1, as with ten folds
        quantile = stats.t.ppf(0.975, 9)
        naive += abs(scores.mean()) <= quantile * stats.sem(scores)
        corrected += abs(scores.mean()) <= quantile * compute_corrected_error(scores, 1 / 9)
    assert corrected / 400 == pytest.approx(0.95, abs=0.03)
    assert naive / 400 < 0.9


def test_compare_paired_is_the_corrected_resampled_t_test():
    assert compare_paired(VALUES, VALUES - 0.02, 1 / 9).mean == pytest.approx(0.02)
    noisy = VALUES - 0.02 + GENERATOR.normal(0, 0.01, VALUES.shape)
    difference = compare_paired(VALUES, noisy, 1 / 9)
    gaps = (VALUES - noisy).ravel()
    error = np.sqrt((1 / 50 + 1 / 9) * gaps.var(ddof=1))
    assert difference.p_value == pytest.approx(2 * stats.t.sf(abs(gaps.mean()) / error, 49))
    assert difference.interval == pytest.approx(stats.t.interval(0.95, 49, loc=gaps.mean(), scale=error))


def test_compare_paired_of_equal_values_has_a_p_value_of_one():
    assert compare_paired(VALUES, VALUES, 1 / 9).p_value == 1.0


def test_compare_paired_is_none_without_common_folds():
    assert compare_paired(np.array([[np.nan]]), np.array([[1.0]]), 0.1) is None


def test_compare_paired_has_no_interval_if_the_gap_is_the_same_in_all_folds():
    rounded = compare_paired(np.array([[0.8, 0.9]]), np.array([[0.7, 0.8]]) + np.array([[1e-17, 0]]), 0.5)
    assert rounded.mean == pytest.approx(0.1)
    values = np.array([[0.5, 0.75]])
    difference = compare_paired(values, values - 0.25, 0.5)
    assert (difference.mean, difference.interval, difference.p_value) == (0.25, None, None)


def test_share_test_bags_is_false_for_splits_with_different_test_bags():
    assert share_test_bags(make_units())
    other = evaluate_split(PooledClassifier(), NEEDLES, NEEDLES.labels, Split(0, 1, ROWS[15:], ROWS[:15]), 0)
    assert not share_test_bags([*make_units(), other])


@pytest.mark.usefixtures("few_resamples")
def test_resample_metrics_of_one_fit_gives_the_bootstrap_interval():
    units = make_units(repeats=1)
    predictions = units[0]["predictions"]["bags"]
    expected = bootstrap_intervals(
        TWO_CLASSES, np.array(predictions["targets"]), np.array(predictions["probabilities"])
    )
    scores = summarise_units(units)
    for name in ("accuracy", "auc", "log_loss"):
        assert scores[name].errors.interval == pytest.approx(expected[name])
        assert scores[name].errors.interval_by == "bootstrap"
        assert scores[name].errors.corrected_error is None


@pytest.mark.usefixtures("few_resamples")
def test_resample_metrics_averages_fits_in_every_resample():
    units = make_units()
    resampled = resample_metrics(units, "bags")["accuracy"]
    for rows, value in zip(resample_bags(15), resampled, strict=True):
        accuracies = [
            compute_bag_metrics(np.array(found["targets"])[rows], np.array(found["probabilities"])[rows])["accuracy"]
            for found in (unit["predictions"]["bags"] for unit in units)
        ]
        assert value == pytest.approx(np.mean(accuracies))


def test_resample_difference_counts_how_often_the_sign_changes():
    first, second = np.array([0.8, 0.9, 0.7, 0.8]), np.array([0.7, 0.9, 0.8, np.nan])
    difference = resample_difference(first, second, 0.05, 3)
    assert difference.p_value == 1.0  # of three resamples, one is positive, one negative, one neither
    certain = resample_difference(np.full(99, 0.9), np.full(99, 0.6), 0.3, 3)
    assert certain.interval == pytest.approx((0.3, 0.3))
    assert certain.p_value == pytest.approx(2 / 100)


def test_compute_percentiles_leaves_out_half_of_five_percent_on_each_side():
    assert compute_percentiles(np.arange(1001.0)) == pytest.approx((25, 975))
    assert compute_percentiles(np.array([np.nan, np.nan, 1.0])) is None


@pytest.mark.parametrize(
    "targets", [np.array([1, 0]), np.array([0.5, 2.0]), np.array([[1.0, np.nan], [0.0, 2.5]])], ids=str
)
def test_read_targets_inverts_list_targets_as_json(targets):
    content = json.loads(json.dumps({"targets": list_targets(targets)}, allow_nan=False))
    found = read_targets(content)
    np.testing.assert_array_equal(found, targets)
    assert found.dtype == targets.dtype
