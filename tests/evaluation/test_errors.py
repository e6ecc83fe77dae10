import numpy as np
import pytest
from scipy import stats

from bagwise.evaluation.errors import corrected_error, errors, paired_difference

DRAWS = np.random.default_rng(0)
VALUES = DRAWS.normal(0.8, 0.05, (5, 10))


def test_each_error_is_its_definition():
    found = errors(VALUES, test_share=1 / 9)
    assert found.mean == pytest.approx(VALUES.mean())
    assert found.spread == pytest.approx(np.std([row.mean() for row in VALUES], ddof=1))
    assert found.standard_error == pytest.approx(found.spread / np.sqrt(5))
    assert found.fold_standard_error == pytest.approx(np.mean([stats.sem(row) for row in VALUES]))
    assert found.corrected_error == pytest.approx(np.sqrt((1 / 50 + 1 / 9) * np.var(VALUES.ravel(), ddof=1)))
    low, high = stats.t.interval(0.95, 49, loc=found.mean, scale=found.corrected_error)
    assert found.interval == pytest.approx((low, high))


def test_undefined_folds_are_left_out_and_one_value_has_no_error():
    holed = VALUES.copy()
    holed[0, 3] = np.nan
    assert errors(holed, 1 / 9).mean == pytest.approx(np.nanmean(holed))
    assert errors(np.full((2, 2), np.nan), 0.1).mean is None
    one = errors(np.array([[0.7]]), 0.1)
    assert (one.mean, one.spread, one.corrected_error, one.interval) == (0.7, None, None, None)


def test_the_corrected_error_covers_the_truth_where_the_naive_one_does_not():
    """Folds share a common error, as training sets that overlap do: the naive error does not see it."""
    naive = corrected = 0
    for _ in range(400):
        scores = DRAWS.normal(0, 1 / 3) + DRAWS.normal(0, 1, 10)  # a correlation of one tenth, as with ten folds
        reach = stats.t.ppf(0.975, 9)
        naive += abs(scores.mean()) <= reach * stats.sem(scores)
        corrected += abs(scores.mean()) <= reach * corrected_error(scores, 1 / 9)
    assert corrected / 400 == pytest.approx(0.95, abs=0.03)
    assert naive / 400 < 0.9


def test_paired_differences_are_on_the_same_folds():
    other = VALUES - 0.02
    found = paired_difference(VALUES, other, 1 / 9)
    assert found.mean == pytest.approx(0.02)
    noisy = VALUES - 0.02 + DRAWS.normal(0, 0.01, VALUES.shape)
    found = paired_difference(VALUES, noisy, 1 / 9)
    gaps = (VALUES - noisy).ravel()
    error = np.sqrt((1 / 50 + 1 / 9) * gaps.var(ddof=1))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(gaps.mean()) / error, 49))
    assert found.interval == pytest.approx(stats.t.interval(0.95, 49, loc=gaps.mean(), scale=error))
    assert paired_difference(VALUES, VALUES, 1 / 9).p_value == 1.0
    assert paired_difference(np.array([[np.nan]]), np.array([[1.0]]), 0.1) is None


def test_equal_gaps_in_a_few_folds_prove_nothing():
    found = paired_difference(np.array([[0.8, 0.9]]), np.array([[0.7, 0.8]]) + np.array([[1e-17, 0]]), 0.5)
    assert found.mean == pytest.approx(0.1)
    same = np.array([[0.5, 0.75]])
    found = paired_difference(same, same - 0.25, 0.5)
    assert (found.mean, found.interval, found.p_value) == (0.25, None, None)


def test_it_is_known_in_how_many_folds_a_metric_is_defined():
    assert errors(np.array([[0.5, np.nan, 0.7]]), 0.1).n_defined == 2
