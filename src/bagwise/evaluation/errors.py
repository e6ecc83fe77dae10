"""How sure a mean over folds is: four errors, each of another question, each under its name.

spread                standard deviation of the repeats' means: how much another draw of the folds changes the mean
standard_error        spread / √repeats: how well that mean over draws is known
fold_standard_error   standard deviation over the folds / √folds, mean over repeats (the "±" of many papers)
corrected_error       √((1/n + n_test/n_train) s²), n folds in all (Nadeau & Bengio 2003): training sets overlap,
                      so the naive error is too small; this is the one to compare methods by
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

LEVEL = 0.95


class Errors(NamedTuple):
    """The mean of a metric over folds, and its errors; None where there are too few values."""

    mean: float | None
    spread: float | None
    standard_error: float | None
    fold_standard_error: float | None
    corrected_error: float | None
    interval: tuple[float, float] | None  # 95 %
    interval_by: str | None  # "corrected error", or "bootstrap" where all fits share their test bags
    n_defined: int  # fits in which the metric is defined


def errors(values: np.ndarray, test_share: float) -> Errors:
    """Errors of a metric from its values, (repeats, folds); undefined folds are NaN and left out.

    test_share : number of test bags over number of training bags of a fold

    >>> errors(np.array([[0.8, 0.9], [0.7, 0.8]]), test_share=1.0).mean
    0.8
    """
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return Errors(None, None, None, None, None, None, None, 0)
    mean = float(known.mean())
    repeats = np.array([np.nanmean(row) for row in values if not np.isnan(row).all()])
    spread = float(repeats.std(ddof=1)) if len(repeats) > 1 else None
    error = corrected_error(known, test_share)
    return Errors(
        mean=mean,
        spread=spread,
        standard_error=None if spread is None else spread / np.sqrt(len(repeats)),
        fold_standard_error=_fold_error(values),
        corrected_error=error,
        interval=None if error is None else _interval(mean, error, len(known)),
        interval_by=None if error is None else "corrected error",
        n_defined=len(known),
    )


def corrected_error(values: np.ndarray, test_share: float) -> float | None:
    """The corrected resampled standard error of the mean of values over folds."""
    if len(values) < 2:
        return None
    return float(np.sqrt((1 / len(values) + test_share) * values.var(ddof=1)))


class Difference(NamedTuple):
    """One method against another on the same folds: mean difference, its interval, and the two-sided p value."""

    mean: float
    interval: tuple[float, float] | None
    p_value: float | None
    n_folds: int


def paired_difference(first: np.ndarray, second: np.ndarray, test_share: float) -> Difference | None:
    """The corrected resampled t test of values (repeats, folds) of two methods on the same folds."""
    gaps = (first - second)[~np.isnan(first - second)]
    if len(gaps) == 0:
        return None
    mean, error = float(gaps.mean()), corrected_error(gaps.ravel(), test_share)
    if error is None or (error == 0 and mean != 0):  # the same gap in a few folds proves nothing
        return Difference(mean, None, None, len(gaps))
    if error == 0:
        return Difference(mean, (mean, mean), 1.0, len(gaps))
    p_value = float(2 * stats.t.sf(abs(mean) / error, len(gaps) - 1))
    return Difference(mean, _interval(mean, error, len(gaps)), p_value, len(gaps))


def _fold_error(values: np.ndarray) -> float | None:
    own = [row[~np.isnan(row)] for row in values]
    each = [row.std(ddof=1) / np.sqrt(len(row)) for row in own if len(row) > 1]
    return float(np.mean(each)) if each else None


def _interval(mean: float, error: float, count: int) -> tuple[float, float]:
    reach = float(stats.t.ppf((1 + LEVEL) / 2, count - 1)) * error
    return mean - reach, mean + reach
