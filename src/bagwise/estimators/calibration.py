"""Adjustment of predicted probabilities and decisions on held-out bags.

A **temperature** rescales probabilities, and a **threshold** replaces one half in the decision between two classes:

    p′ ∝ p^(1/T)                    T maximises the likelihood of the held-out bags (Guo et al. 2017)
    positive if p′ > t              t maximises recall + specificity on the held-out bags

The **slope** 1/T is the factor of the scores. As in Platt (1999), it is fitted under the assumption that each of the
n labels is correct only with probability (n + 1) / (n + 2), so probabilities do not become 0 or 1 if all held-out bags
are predicted correctly.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize_scalar

from bagwise.arguments import check_real_number
from bagwise.errors import InputError
from bagwise.targets import DEFAULT_THRESHOLD, ClassLikelihood, Target, clip_log

MAX_LOG_SLOPE = 7.0  # bound of |log a|: a is between about 1/1000 and 1000


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
