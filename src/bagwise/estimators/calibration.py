"""Calibration of scores on held-out bags: log odds are a linear function of the scores of a method.

    two classes    p(Y = 1) = sigm(a · s + b)                   a > 0
    more           p(Y = c) ∝ exp(a · s_c + b_c)                one slope, one offset per class

Slope and offsets maximise the likelihood of held-out bags, because the scores of the training bags are overconfident.
As in Platt (1999), each of the n labels counts as certain only up to a share n / (n + 2); the rest is spread over the
classes by their shares (Platt: evenly). So probabilities do not become 0 or 1 if all held-out bags are predicted
correctly, and they are the class shares if the scores carry no information. Scores that are shifted or scaled give the
same probabilities. The slope is never negative: scores that rank held-out bags worse than chance count as
uninformative.

Bags count by their weights in the loss of training, so class weights have the same effect with and without
calibration.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize

from bagwise.arguments import check_real_number
from bagwise.bags import make_stratified_folds
from bagwise.errors import InputError
from bagwise.targets import ClassLikelihood, Target

PRIOR_BAGS = 2  # number of bags as which the class shares count
MIN_SLOPE = 1e-6  # per standard deviation of the scores: keeps the ranking if the scores carry no information


class CalibrationWarning(UserWarning):
    """Warning of ``fit`` that the probabilities are not calibrated, because no suitable bags are held out."""


class MajorityWarning(UserWarning):
    """Warning of ``fit`` that a method does not beat the majority on its own held-out bags."""


class HeldOutScores(NamedTuple):
    """Scores of bags that were held out, fold by fold.

    Attributes
    ----------
    rows : ndarray of int, of shape (n_held_out,)
        Indices of the bags; empty if there are too few bags of a class, or too few groups, for two folds.
    scores : ndarray of shape (n_held_out, n_scores)
        Their scores.
    folds : ndarray of int, of shape (n_held_out,)
        Number of the fold in which each bag was held out.
    """

    rows: np.ndarray
    scores: np.ndarray
    folds: np.ndarray


class HeldOutOutputs(NamedTuple):
    """Outputs of training bags, each by a copy of the estimator that was fitted without the bag.

    Attributes
    ----------
    rows : ndarray of int, of shape (n_held_out,)
        Indices of the bags among the bags of the fit.
    outputs : ndarray of shape (n_held_out, n_outputs)
        Their outputs, each fold calibrated on the others.
    """

    rows: np.ndarray
    outputs: np.ndarray


class Calibration(NamedTuple):
    """The slope and offsets by which scores become log odds; by default they stay the same.

    Attributes
    ----------
    slope : float
        Factor of the scores.
    offset : ndarray of shape (n_scores,)
        Added to the scaled scores.
    """

    slope: float
    offset: np.ndarray

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Scale and shift scores of shape (n, n_scores)."""
        return scores * self.slope + self.offset

    def to_json(self) -> dict[str, Any]:
        """Return slope and offset as JSON types."""
        return {"slope": self.slope, "offset": self.offset.tolist()}


class HeldOutLoss(NamedTuple):
    """Log loss on held-out bags, of a method and of the class shares.

    Attributes
    ----------
    method : float
        Log loss of the method. Each fold is calibrated on the others.
    majority : float
        Log loss of the class shares.
    """

    method: float
    majority: float

    @property
    def beats_majority(self) -> bool:
        """Whether the method has the lower log loss."""
        return self.method < self.majority


def make_identity(n_scores: int) -> Calibration:
    """Return the calibration that leaves scores unchanged."""
    return Calibration(1.0, np.zeros(n_scores))


def restore_calibration(content: dict[str, Any], n_scores: int) -> Calibration:
    """Invert ``Calibration.to_json``; reject invalid numbers, because the file may be forged."""
    offset = [check_real_number("offset", value) for value in content["offset"]]
    if len(offset) != n_scores:
        raise InputError(f"the saved model has {len(offset)} offsets for {n_scores} scores; train again")
    return Calibration(check_real_number("slope", content["slope"], minimum=0), np.array(offset))


def restore_held_out_loss(content: Any) -> HeldOutLoss | None:
    """Return the saved losses of held-out bags, or None if there are none."""
    return None if content is None else HeldOutLoss(*(check_real_number("held_out_loss", value) for value in content))


def check_calibration(target: Target) -> None:
    """Reject the calibration of a target whose outputs cannot be calibrated."""
    if not target.has_calibration:
        raise InputError(f"calibration is for probabilities, but y has {target.describe()}; set calibration=False")


def compute_held_out_scores(
    score: Callable[[np.ndarray, np.ndarray], np.ndarray],
    targets: np.ndarray,
    groups: np.ndarray | None,
    n_folds: int,
    seed: int,
) -> HeldOutScores:
    """Compute the scores of all bags that can be held out, with ``score(training indices, held-out indices)``."""
    n_groups = len(targets) if groups is None else len(np.unique(groups))
    n_folds = min(n_folds, int(np.bincount(targets).min()), n_groups)
    n_strata = len(np.unique(targets))
    folds = [
        (training, held_out)
        for training, held_out in (make_stratified_folds(targets, groups, n_folds, seed) if n_folds >= 2 else ())
        if len(np.unique(targets[training])) == n_strata and len(held_out)
    ]
    if not folds:
        return HeldOutScores(np.array([], dtype=int), np.array([]), np.array([], dtype=int))
    return HeldOutScores(
        rows=np.concatenate([held_out for _, held_out in folds]),
        scores=np.concatenate([score(*fold) for fold in folds]),
        folds=np.concatenate([np.full(len(held_out), number) for number, (_, held_out) in enumerate(folds)]),
    )


def compute_class_shares(targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the share of each class in the total weight of the bags.

    >>> compute_class_shares(np.array([0, 0, 0, 1]), np.array([1, 1, 1, 3]))
    array([0.5, 0.5])
    """
    totals = np.bincount(targets, weights).clip(min=np.finfo(np.float64).tiny)  # all bags of a class may weigh 0
    return totals / totals.sum()


def fit_calibration(
    likelihood: ClassLikelihood, scores: np.ndarray, targets: np.ndarray, shares: np.ndarray, weights: np.ndarray
) -> Calibration:
    """Fit slope and offsets to the scores of held-out bags.

    Parameters
    ----------
    likelihood : ClassLikelihood
        Likelihood of the classes.
    scores : ndarray of shape (n_bags, n_scores)
        Scores of the held-out bags.
    targets : ndarray of int, of shape (n_bags,)
        Their class numbers.
    shares : ndarray of shape (n_classes,)
        Share of each class, above 0: the prior, from ``compute_class_shares``.
    weights : ndarray of shape (n_bags,)
        Weight of each bag in the loss, at least 0.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> from bagwise.targets import Bernoulli
    >>> scores, targets, shares = np.full((4, 1), 3.0), np.array([0, 0, 0, 1]), np.array([0.75, 0.25])
    >>> found = fit_calibration(Bernoulli(), scores, targets, shares, np.ones(4))
    >>> found.slope, float(np.exp(found.offset[0]).round(3))
    (0.0, 0.333)
    """
    if not weights.any():  # all bags with a weight are training bags
        return make_identity(likelihood.n_scores)
    factors = weights.astype(np.float64) / weights.sum(dtype=np.float64)
    n_effective = 1 / (factors**2).sum()
    certainty = n_effective / (n_effective + PRIOR_BAGS)
    expected = certainty * np.eye(len(shares))[targets] + (1 - certainty) * shares
    center, scale = scores.mean(axis=0), float(scores.std(axis=0).max())
    uninformed = likelihood.link((factors @ expected)[None])[0]
    if scale <= 1e-12 * float(np.abs(scores).max()):  # constant but for rounding
        return Calibration(0.0, uninformed)
    standardized = (scores - center) / scale

    def compute_loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        variables = torch.tensor(parameters, requires_grad=True)
        shifted = torch.from_numpy(standardized) * variables[0] + variables[1:]
        loss = -(torch.from_numpy(factors[:, None] * expected) * likelihood.log_probabilities(shifted)).sum()
        return loss.item(), torch.autograd.grad(loss, variables)[0].numpy()

    bounds = [(MIN_SLOPE, None), *([(None, None)] * len(uninformed))]
    found = minimize(
        compute_loss,
        np.concatenate([[MIN_SLOPE], uninformed]),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000},
    ).x
    slope = float(found[0]) / scale
    return Calibration(slope, found[1:] - slope * center)


def calibrate_held_out(
    likelihood: ClassLikelihood, held_out: HeldOutScores, targets: np.ndarray, shares: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Calibrate the scores of held-out bags, each fold on the others; shape (n_held_out, n_scores)."""
    calibrated = np.empty(held_out.scores.shape)
    for fold in np.unique(held_out.folds):
        inside = held_out.folds == fold
        found = fit_calibration(likelihood, held_out.scores[~inside], targets[~inside], shares, weights[~inside])
        calibrated[inside] = found.apply(held_out.scores[inside])
    return calibrated


def compute_held_out_loss(
    likelihood: ClassLikelihood, calibrated: np.ndarray, targets: np.ndarray, shares: np.ndarray, weights: np.ndarray
) -> HeldOutLoss | None:
    """Compute the log loss of held-out bags from their calibrated scores, and that of the class shares.

    There is none if no held-out bag has a weight.
    """
    if not weights.any():
        return None
    log_probabilities = likelihood.log_probabilities(torch.from_numpy(calibrated)).numpy()
    return HeldOutLoss(
        method=float(np.average(-log_probabilities[np.arange(len(targets)), targets], weights=weights)),
        majority=float(np.average(-np.log(shares[targets]), weights=weights)),
    )


def warn_if_majority_wins(name: str, loss: HeldOutLoss | None, stacklevel: int) -> None:
    """Warn that a method does not beat the majority on its own held-out bags."""
    if loss is not None and not loss.beats_majority:
        is_equal = f"{loss.method:.3f}" == f"{loss.majority:.3f}"
        losses = f"{loss.method:.3f} for both" if is_equal else f"{loss.method:.3f}, majority {loss.majority:.3f}"
        warnings.warn(
            f"{name} does not beat the majority on its own held-out bags: log loss {losses}; compare other methods "
            "with `bagwise compare`",
            MajorityWarning,
            stacklevel=stacklevel + 1,
        )
