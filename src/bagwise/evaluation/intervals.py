"""Confidence intervals and standard errors of metrics.

Bootstrap: test bags are resampled with replacement, whole groups at a time. It is used for a single evaluation and for
several fits with the same test bags.

Standard errors of a mean over folds. Each answers a different question:

spread                standard deviation of the repeats' means: how much different folds change the mean
standard_error        spread / √repeats: how precisely the mean over repeats is known
fold_standard_error   standard deviation over the folds / √folds, mean over repeats (the "±" of many papers)
corrected_error       √((1/n + n_test/n_train) s²) with n folds in total (Nadeau & Bengio 2003). Training sets overlap,
                      so the naive error is too small; use this one to compare methods

The corrected error assumes that every split is sampled independently. If all fits have the same test bags, it would
reflect only the seeds of the methods, and a metric of twenty bags would look precise. The bootstrap is used instead.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import stats

from bagwise.nn import Purpose, make_generator
from bagwise.targets import DEFAULT_THRESHOLD, Target, make_unnamed_target, restore_target

N_RESAMPLES = 1000
CONFIDENCE_LEVEL = 0.95

Interval = tuple[float, float]


def bootstrap_intervals(
    target: Target,
    targets: np.ndarray,
    outputs: np.ndarray,
    groups: np.ndarray | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    seed: int = 0,
) -> dict[str, Interval | None]:
    """Compute 95 % percentile intervals of every metric by resampling the test bags; the model stays the same.

    Parameters
    ----------
    target : Target
        Target of the bags, whose metrics are computed.
    targets : ndarray of shape (n_bags, ...)
        Encoded targets.
    outputs : ndarray of shape (n_bags, n_outputs)
        Outputs of the model.
    groups : ndarray of shape (n_bags,), default=None
        If given, whole groups are resampled.
    threshold : float, default=0.5
        Decision threshold between two classes.
    seed : int, default=0
        Seed of the resampling.

    Returns
    -------
    dict of str to (float, float) or None
        Bounds of the interval of each metric. Resamples in which a metric is undefined are left out; the
        interval is None if the metric is undefined in most resamples, as with a single group per class.
    """
    values: dict[str, list[float | None]] = {}
    for rows in resample_bags(len(targets), groups, seed):
        for name, value in target.compute_metrics(targets[rows], outputs[rows], threshold).items():
            values.setdefault(name, []).append(value)
    return {name: compute_percentiles(np.array(resampled, dtype=float)) for name, resampled in values.items()}


def resample_bags(n_bags: int, groups: np.ndarray | None = None, seed: int = 0) -> Iterator[np.ndarray]:
    """Yield rows sampled with replacement, whole groups at a time; equal arguments give equal samples."""
    owners = np.arange(n_bags) if groups is None else np.unique(groups, return_inverse=True)[1]
    sizes, members = np.bincount(owners), np.argsort(owners, kind="stable")  # members: bags, ordered by group
    starts = np.cumsum(sizes) - sizes
    generator = make_generator(seed, Purpose.BOOTSTRAP)
    for _ in range(N_RESAMPLES):
        chosen = generator.integers(len(sizes), size=len(sizes))
        yield members[_concatenate_ranges(starts[chosen], sizes[chosen])]


def _concatenate_ranges(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Concatenate the ranges start … start + size − 1.

    >>> _concatenate_ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(sizes)
    return np.arange(ends[-1]) + np.repeat(starts - (ends - sizes), sizes)


def compute_percentiles(values: np.ndarray) -> Interval | None:
    """Compute the interval of resampled values, ignoring NaN; None if most values are NaN."""
    known, tail = values[~np.isnan(values)], (1 - CONFIDENCE_LEVEL) / 2
    if 2 * len(known) < len(values) or not len(known):
        return None
    return float(np.quantile(known, tail)), float(np.quantile(known, 1 - tail))


class StandardErrors(NamedTuple):
    """The mean of a metric over folds with its standard errors; None where there are too few values.

    Attributes
    ----------
    mean : float or None
        Mean over all folds of all repeats.
    spread : float or None
        Standard deviation of the repeats' means.
    standard_error : float or None
        spread / √repeats.
    fold_standard_error : float or None
        Standard deviation over folds / √folds, mean over repeats.
    corrected_error : float or None
        Corrected resampled standard error (Nadeau & Bengio 2003).
    interval : tuple of two floats, or None
        95 % interval of the mean.
    interval_by : {"corrected error", "bootstrap"} or None
        How the interval was computed: by the bootstrap if all fits have the same test bags.
    n_defined : int
        Number of fits in which the metric is defined.
    """

    mean: float | None
    spread: float | None
    standard_error: float | None
    fold_standard_error: float | None
    corrected_error: float | None
    interval: Interval | None
    interval_by: Literal["corrected error", "bootstrap"] | None
    n_defined: int


def compute_errors(values: np.ndarray, test_share: float) -> StandardErrors:
    """Compute the mean and the standard errors of a metric from its values per fold.

    Parameters
    ----------
    values : ndarray of shape (n_repeats, n_folds)
        NaN where the metric is undefined; these folds are left out.
    test_share : float
        Ratio of test bags to training bags of a fold.

    Returns
    -------
    StandardErrors

    Examples
    --------
    >>> compute_errors(np.array([[0.8, 0.9], [0.7, 0.8]]), test_share=1.0).mean
    0.8
    """
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return StandardErrors(**dict.fromkeys(StandardErrors._fields[:-1]), n_defined=0)
    mean = float(known.mean())
    repeat_means = np.array([np.nanmean(row) for row in values if not np.isnan(row).all()])
    spread = float(repeat_means.std(ddof=1)) if len(repeat_means) > 1 else None
    error = compute_corrected_error(known, test_share)
    return StandardErrors(
        mean=mean,
        spread=spread,
        standard_error=None if spread is None else spread / np.sqrt(len(repeat_means)),
        fold_standard_error=compute_fold_error(values),
        corrected_error=error,
        interval=None if error is None else _compute_t_interval(mean, error, len(known)),
        interval_by=None if error is None else "corrected error",
        n_defined=len(known),
    )


def compute_fold_error(values: np.ndarray) -> float | None:
    """Compute the standard error over the folds of each repeat, averaged over repeats.

    Parameters
    ----------
    values : ndarray of shape (n_repeats, n_folds)
        Values of a metric; NaN where it is undefined.

    Returns
    -------
    float or None
        None if no repeat has more than one defined value.
    """
    rows = [row[~np.isnan(row)] for row in values]
    errors = [row.std(ddof=1) / np.sqrt(len(row)) for row in rows if len(row) > 1]
    return float(np.mean(errors)) if errors else None


def compute_corrected_error(values: np.ndarray, test_share: float) -> float | None:
    """Compute the corrected resampled standard error of the mean of values over folds; None for a single value."""
    if len(values) < 2:
        return None
    return float(np.sqrt((1 / len(values) + test_share) * values.var(ddof=1)))


def _compute_t_interval(mean: float, error: float, count: int) -> Interval:
    half_width = float(stats.t.ppf((1 + CONFIDENCE_LEVEL) / 2, count - 1)) * error
    return mean - half_width, mean + half_width


class Difference(NamedTuple):
    """The difference of two methods on the same folds.

    Attributes
    ----------
    mean : float
        Mean of the first method minus mean of the second.
    interval : tuple of two floats, or None
        95 % interval of the difference.
    p_value : float or None
        Two-sided p-value.
    n_folds : int
        Number of folds on which both methods have a value.
    """

    mean: float
    interval: Interval | None
    p_value: float | None
    n_folds: int


def compare_paired(first: np.ndarray, second: np.ndarray, test_share: float) -> Difference | None:
    """Compare two methods on the same folds by the corrected resampled t test.

    Both arrays have the shape (n_repeats, n_folds); None if there is no fold on which both have a value.
    """
    differences = (first - second)[~np.isnan(first - second)]
    if len(differences) == 0:
        return None
    mean, error = float(differences.mean()), compute_corrected_error(differences.ravel(), test_share)
    if error is None or (error == 0 and mean != 0):  # equal differences in a few folds are no evidence
        return Difference(mean=mean, interval=None, p_value=None, n_folds=len(differences))
    if error == 0:
        return Difference(mean=mean, interval=(mean, mean), p_value=1.0, n_folds=len(differences))
    p_value = float(2 * stats.t.sf(abs(mean) / error, len(differences) - 1))
    interval = _compute_t_interval(mean, error, len(differences))
    return Difference(mean=mean, interval=interval, p_value=p_value, n_folds=len(differences))


def share_test_bags(units: Sequence[dict[str, Any]]) -> bool:
    """Return whether all fits are evaluated on the same bags.

    Parameters
    ----------
    units : sequence of Unit
        One unit per fit.

    Returns
    -------
    bool
    """
    return len({tuple(unit["rows"]) for unit in units}) == 1


def read_unit_target(unit: dict[str, Any]) -> Target:
    """Return the target of a unit; early versions stored only the probabilities of classes.

    Parameters
    ----------
    unit : Unit
        The result of one fit.

    Returns
    -------
    Target
    """
    if "target" in unit:
        return restore_target(unit["target"])
    return make_unnamed_target(len(unit["predictions"]["bags"]["probabilities"][0]))


def list_targets(targets: np.ndarray) -> list[Any]:
    """Return encoded targets as JSON types; an unknown one of several labels is None."""
    if not np.isnan(targets).any():
        return targets.tolist()
    values = targets.astype(object)
    values[np.isnan(targets)] = None
    return values.tolist()


def read_targets(predictions: dict[str, Any]) -> np.ndarray:
    """Return the targets of predictions, in which None is an unknown label."""
    targets = np.array(predictions["targets"])
    return targets.astype(float) if targets.dtype.kind == "O" else targets


def resample_metrics(units: Sequence[dict[str, Any]], part: str) -> dict[str, np.ndarray]:
    """Resample every metric of bags or groups, averaged over fits with the same test bags.

    Returns (n_resamples,) values per metric, NaN where it is undefined. Methods evaluated on the same bags get the same
    resamples.
    """
    predictions = [unit["predictions"][part] for unit in units]
    target, groups = read_unit_target(units[0]), predictions[0].get("groups")
    evaluated = [
        (read_targets(found), np.array(found[target.outputs_name]), unit["threshold"])
        for unit, found in zip(units, predictions, strict=True)
    ]
    values: dict[str, list[float]] = {}
    for rows in resample_bags(len(evaluated[0][0]), None if groups is None else np.array(groups)):
        metrics = [
            target.compute_metrics(targets[rows], outputs[rows], threshold) for targets, outputs, threshold in evaluated
        ]
        for name in metrics[0]:
            values.setdefault(name, []).append(float(np.mean([_none_to_nan(found[name]) for found in metrics])))
    return {name: np.array(resampled) for name, resampled in values.items()}


def _none_to_nan(value: float | None) -> float:
    return np.nan if value is None else value


def resample_difference(first: np.ndarray, second: np.ndarray, mean: float, n_fits: int) -> Difference:
    """Compare two methods on the same resamples; the p-value is based on how often their difference changes sign."""
    differences = (first - second)[~np.isnan(first - second)]
    if len(differences) == 0:
        return Difference(mean=mean, interval=None, p_value=None, n_folds=n_fits)
    reversed_sign = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    p_value = min(1.0, 2 * (reversed_sign + 1) / (len(differences) + 1))
    return Difference(mean=mean, interval=compute_percentiles(differences), p_value=p_value, n_folds=n_fits)
