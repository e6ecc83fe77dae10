"""Probabilities of methods that only score: a slope, fitted to scores of bags that were held out of the fit.

    p(Y = 1) = sigm(a · score)        a > 0

One number and no offset: the calibrated probability passes one half where the score passes zero, so it never
contradicts the decision (Platt's second parameter would). Scores of the training bags themselves are far too sure.
As in Platt (1999) a label is taken to be right with probability (n + 1) / (n + 2) only: bags that all came out right
do not make the next one certain.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize_scalar

from bagwise.errors import InputError
from bagwise.folds import stratified_folds
from bagwise.likelihoods import Likelihood

STEEPEST = 7.0  # |log a|: a thousandfold either way


def check_folds(folds: Any) -> None:
    """Refuse what is no number of folds."""
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 0 or folds == 1:
        raise InputError(f"calibration is {folds!r}; give the number of folds, 2 or more, or 0 for none")


def held_out_scores(
    score: Callable[[np.ndarray, np.ndarray], np.ndarray],
    targets: np.ndarray,
    groups: np.ndarray | None,
    n_folds: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The bags that could be held out, and their scores by ``score(kept, held)``; none where a class is too rare."""
    n_groups = len(targets) if groups is None else len(np.unique(groups))
    n_folds = min(n_folds, int(np.bincount(targets).min()), n_groups)
    if n_folds < 2:
        return np.array([], dtype=int), np.array([])
    n_classes = len(np.unique(targets))
    folds = [
        (kept, held)
        for kept, held in stratified_folds(targets, groups, n_folds, seed)
        if len(np.unique(targets[kept])) == n_classes and len(held)
    ]
    if not folds:
        return np.array([], dtype=int), np.array([])
    return np.concatenate([held for _, held in folds]), np.concatenate([score(*fold) for fold in folds])


def fit_slope(likelihood: Likelihood, scores: np.ndarray, targets: np.ndarray) -> float:
    """The slope of the greatest likelihood.

    >>> from bagwise.likelihoods import Bernoulli
    >>> bool(fit_slope(Bernoulli(), np.array([[-9.0], [9.0], [-9.0], [9.0]]), np.array([0, 1, 1, 0])) < 0.01)
    True
    """
    values = torch.from_numpy(np.asarray(scores, dtype=np.float64))
    doubt = 1 / (len(targets) + 2)
    n_classes = int(likelihood.log_probabilities(values[:1]).shape[1])
    trust = np.full((len(targets), n_classes), doubt / (n_classes - 1))
    trust[np.arange(len(targets)), targets] = 1 - doubt

    def loss(log_slope: float) -> float:
        log_probabilities = likelihood.log_probabilities(values * float(np.exp(log_slope))).numpy()
        return float(-(trust * log_probabilities).sum(axis=1).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-STEEPEST, STEEPEST), method="bounded").x))
