"""Calibration of probabilities on held-out bags.

A **slope** turns the scores of a method into probabilities:

    p(Y = 1) = sigm(a · score)        a > 0

It has one parameter and no offset: the probability is one half where the score is zero, so it always agrees with the
decision (with Platt's second parameter it would not). It is fitted to held-out bags, because the scores of the training
bags are overconfident.

A **temperature** rescales probabilities, and a **threshold** replaces one half in the decision between two classes:

    p′ ∝ p^(1/T)                    T maximises the likelihood of the held-out bags (Guo et al. 2017)
    positive if p′ > t              t maximises recall + specificity on the held-out bags

As in Platt (1999), slope and temperature are fitted under the assumption that each of the n labels is correct only
with probability (n + 1) / (n + 2), so probabilities do not become 0 or 1 if all held-out bags are predicted correctly.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize_scalar

from bagwise.arguments import check_real_number
from bagwise.bags import make_stratified_folds
from bagwise.errors import InputError
from bagwise.targets import DEFAULT_THRESHOLD, ClassLikelihood, Target, clip_log

MAX_LOG_SLOPE = 7.0  # bound of |log a|: a is between about 1/1000 and 1000


def check_folds(folds: Any) -> None:
    """Check that the parameter ``calibration`` is a number of folds."""
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 0 or folds == 1:
        raise InputError(f"calibration is {folds!r}; it must be a number of folds, 2 or more, or 0 for no calibration")


def compute_held_out_scores(
    score: Callable[[np.ndarray, np.ndarray], np.ndarray],
    targets: np.ndarray,
    groups: np.ndarray | None,
    n_folds: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of all bags that could be held out, and their scores.

    Scores are computed fold by fold with ``score(training indices, held-out indices)``. Both arrays are empty if there
    are too few bags of a class, or too few groups, for two folds.
    """
    n_groups = len(targets) if groups is None else len(np.unique(groups))
    n_folds = min(n_folds, int(np.bincount(targets).min()), n_groups)
    if n_folds < 2:
        return np.array([], dtype=int), np.array([])
    n_strata = len(np.unique(targets))
    folds = [
        (training, held_out)
        for training, held_out in make_stratified_folds(targets, groups, n_folds, seed)
        if len(np.unique(targets[training])) == n_strata and len(held_out)
    ]
    if not folds:
        return np.array([], dtype=int), np.array([])
    return np.concatenate([held_out for _, held_out in folds]), np.concatenate([score(*fold) for fold in folds])


def fit_slope(likelihood: ClassLikelihood, scores: np.ndarray, targets: np.ndarray) -> float:
    """Return the slope that maximises the likelihood of the targets.

    >>> from bagwise.targets import Bernoulli
    >>> bool(fit_slope(Bernoulli(), np.array([[-9.0], [9.0], [-9.0], [9.0]]), np.array([0, 1, 1, 0])) < 0.01)
    True
    """
    values = torch.from_numpy(np.asarray(scores, dtype=np.float64))
    label_noise = 1 / (len(targets) + 2)
    n_outputs = int(likelihood.log_probabilities(values[:1]).shape[1])
    smoothed = np.full((len(targets), n_outputs), label_noise / (n_outputs - 1))
    smoothed[np.arange(len(targets)), targets] = 1 - label_noise

    def compute_loss(log_slope: float) -> float:
        log_probabilities = likelihood.log_probabilities(values * float(np.exp(log_slope))).numpy()
        return float(-(smoothed * log_probabilities).sum(axis=1).mean())

    return float(np.exp(minimize_scalar(compute_loss, bounds=(-MAX_LOG_SLOPE, MAX_LOG_SLOPE), method="bounded").x))


@dataclass(frozen=True)
class Adjustment:
    """A temperature and a decision threshold; with the defaults, predictions are not changed.

    Parameters
    ----------
    temperature : float, default=1.0
        T in p′ ∝ p^(1/T), above 0.
    threshold : float, default=0.5
        Probability above which the positive one of two classes is predicted.

    Examples
    --------
    >>> Adjustment(temperature=2.0).apply(np.array([[0.2, 0.8]])).round(3)
    array([[0.333, 0.667]])
    """

    temperature: float = 1.0
    threshold: float = DEFAULT_THRESHOLD

    def apply(self, probabilities: np.ndarray) -> np.ndarray:
        """Rescale probabilities by the temperature; with two classes, the ranking of the bags does not change.

        Parameters
        ----------
        probabilities : ndarray of shape (n_bags, n_classes)
            Class probabilities.

        Returns
        -------
        ndarray of shape (n_bags, n_classes)
            The rescaled probabilities.
        """
        if self.temperature == 1.0:
            return probabilities
        return torch.softmax(clip_log(probabilities) / self.temperature, dim=1).numpy()


def restore_adjustment(metadata: dict[str, Any]) -> Adjustment:
    """Return the adjustment of a saved model; reject invalid values."""
    return Adjustment(
        check_real_number("temperature", metadata["temperature"], above=0),
        check_real_number("threshold", metadata["threshold"], minimum=0),
    )


def learn_adjustment(
    target: Target, outputs: np.ndarray, targets: np.ndarray, *, temperature: bool, threshold: bool
) -> Adjustment:
    """Fit a temperature, a threshold or both to held-out bags, for a target that ``check_adjustment`` accepts."""
    scaling = Adjustment(_fit_temperature(target.likelihood, outputs, targets) if temperature else 1.0)
    if not threshold:
        return scaling
    positive: Any = target.shown_output
    return Adjustment(scaling.temperature, _fit_threshold(scaling.apply(outputs)[:, positive], targets == positive))


def check_adjustment(temperature: bool, threshold: bool, target: Target) -> None:
    """Reject a temperature or a learned threshold that the target does not have."""
    if temperature and not target.has_temperature:
        raise InputError(
            f"a temperature calibrates probabilities, but y has {target.describe()}; set temperature=False"
        )
    if threshold and not target.has_threshold:
        raise InputError(f"a threshold decides between two classes, but y has {target.describe()}; set threshold=False")


def _fit_temperature(likelihood: Any, probabilities: np.ndarray, targets: np.ndarray) -> float:
    return 1 / fit_slope(likelihood, likelihood.link(probabilities), targets)


def _fit_threshold(probabilities: np.ndarray, positive: np.ndarray) -> float:
    """Return the midpoint of maximum recall + specificity; if there are several, the one nearest to one half."""
    values = np.unique(probabilities)
    if positive.all() or not positive.any() or len(values) == 1:
        return DEFAULT_THRESHOLD
    candidates = (values[1:] + values[:-1]) / 2
    recall = np.array([(probabilities[positive] > candidate).mean() for candidate in candidates])
    specificity = np.array([(probabilities[~positive] < candidate).mean() for candidate in candidates])
    best = candidates[np.isclose(recall + specificity, (recall + specificity).max())]
    return float(best[np.abs(best - DEFAULT_THRESHOLD).argmin()])
