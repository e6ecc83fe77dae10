"""Diverse Density (Maron & Lozano-Pérez 1998): a concept is a point that positive bags touch and negative bags avoid.

    dᵢ = Σ_f s_f² (x_if − h_f)²        Pᵢ = exp(−dᵢ)                the concept is (h, s)
    noisy-or:               P(bag) = 1 − Πᵢ (1 − Pᵢ)
    most likely instance:   P(bag) = maxᵢ Pᵢ

A loss is the negative log-likelihood of bags. It is a function of the distances alone, so each loss gives its value
and its slope at every distance, and ``evaluate`` carries the slopes on to the point h and the scales s. Everything is
computed in logarithms, so nothing overflows or vanishes: log Pᵢ = −dᵢ, log(1 − Pᵢ) = log(−expm1(−dᵢ)).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from bagwise import segments
from bagwise.training.batches import tensor

STEPS = 25  # of one descent: the next E step may choose other instances, so to go on to its very end would not pay
DOUBT = 1e-6  # added to every distance: were an instance certain (d = 0), a negative bag with it would cost infinity
FAINT = -37.0  # a logarithm of x, below which 1 − exp(−x) and −log(1 − x) are x in float64


@dataclass(frozen=True)
class Concept:
    """A point in the space of instances, and how much each feature counts."""

    point: np.ndarray
    scales: np.ndarray


class Loss(NamedTuple):
    """A loss, and its derivative by the distance of each row."""

    value: float
    slopes: np.ndarray


class Evaluated(NamedTuple):
    """A loss, and its derivatives by the concept."""

    value: float
    by_point: np.ndarray
    by_scales: np.ndarray


DistanceLoss = Callable[[np.ndarray], Loss]


def distances(rows: np.ndarray, concept: Concept) -> np.ndarray:
    """−log Pᵢ of each row; equal rows are equally far, to the bit, wherever they stand."""
    return np.square((rows - concept.point) * concept.scales).sum(axis=1) + DOUBT


def log_absence(distances: np.ndarray) -> np.ndarray:
    """log(1 − P), to full precision for near and far."""
    far = np.maximum(distances, np.log(2))  # where P is small, 1 − P would round its digits away
    return np.where(distances < np.log(2), np.log(-np.expm1(-distances)), np.log1p(-np.exp(-far)))


def log_odds(distances: np.ndarray) -> np.ndarray:
    """log P − log(1 − P).

    >>> log_odds(np.array([np.log(2), 1e4])).round(12)
    array([    0., -10000.])
    """
    return -distances - log_absence(distances)


def single_loss(distances: np.ndarray, positive: np.ndarray) -> Loss:
    """The loss of bags of which one row each stands for the bag; ``positive`` says which are positive."""
    values = np.where(positive, distances, -log_absence(distances))
    return Loss(float(values.sum()), np.where(positive, 1.0, -np.exp(log_odds(distances))))


def noisy_or_loss(distances: np.ndarray, offsets: np.ndarray, positive: np.ndarray) -> Loss:
    """The loss of bags under the noisy-or of all their rows; ``positive`` says which bags are positive.

    With U = −Σᵢ log(1 − Pᵢ) a negative bag costs U and a positive one −log(1 − exp(−U)).
    """
    log_total = segments.log_sum_exp(tensor(_log_hazard(distances)[:, None]), tensor(offsets)).numpy()[:, 0]
    total, log_presence = np.exp(log_total), _log_presence(log_total)
    values = np.where(positive, -log_presence, total)
    log_slopes = np.where(positive, -total - log_presence, 0.0)  # of the bag's loss by U, whose own by dᵢ are −odds
    owners = np.repeat(np.arange(len(positive)), np.diff(offsets))
    slopes = np.where(positive, 1.0, -1.0)[owners] * np.exp(log_slopes[owners] + log_odds(distances))
    return Loss(float(values.sum()), slopes)


def _log_hazard(distances: np.ndarray) -> np.ndarray:
    """log(−log(1 − P)), which is log P where P is faint."""
    return np.where(-distances < FAINT, -distances, np.log(-log_absence(np.minimum(distances, -FAINT))))


def _log_presence(log_total: np.ndarray) -> np.ndarray:
    """log(1 − exp(−U)), which is log U where U is faint."""
    return np.where(log_total < FAINT, log_total, log_absence(np.exp(np.maximum(log_total, FAINT))))


def evaluate(rows: np.ndarray, concept: Concept, loss: DistanceLoss) -> Evaluated:
    """A loss of the rows' distances, and its gradient."""
    differences = rows - concept.point
    squares = np.square(differences)
    weights = np.square(concept.scales)
    value, slopes = loss(squares @ weights + DOUBT)
    return Evaluated(value, -2 * weights * (slopes @ differences), 2 * concept.scales * (slopes @ squares))


def descend(rows: np.ndarray, concept: Concept, loss: DistanceLoss) -> Concept:
    """A concept of lower loss: L-BFGS, at most ``STEPS`` steps."""

    def flat(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        value, by_point, by_scales = evaluate(rows, Concept(*np.split(parameters, 2)), loss)
        return value, np.concatenate([by_point, by_scales])

    start = np.concatenate([concept.point, concept.scales])
    found = minimize(flat, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return Concept(*np.split(found.x, 2))


class Objective(ABC):
    """What a search lowers."""

    @abstractmethod
    def loss(self, concept: Concept) -> float:
        """The negative log-likelihood of all bags."""

    @abstractmethod
    def improve(self, concept: Concept) -> Concept:
        """The concept after one round."""


class NoisyOr(Objective):
    """Diverse Density as first published: the loss of bags under the noisy-or, lowered over all instances at once."""

    def __init__(self, rows: np.ndarray, offsets: np.ndarray, positive: np.ndarray) -> None:
        self.rows = rows
        self.distance_loss = partial(noisy_or_loss, offsets=offsets, positive=positive)

    def loss(self, concept: Concept) -> float:
        return self.distance_loss(distances(self.rows, concept)).value

    def improve(self, concept: Concept) -> Concept:
        return descend(self.rows, concept, self.distance_loss)


class MostLikelyInstance(Objective):
    """EM-DD's loss, of bags for which their most likely instance stands; one round is an E step and an M step."""

    def __init__(self, rows: np.ndarray, offsets: np.ndarray, positive: np.ndarray) -> None:
        self.rows, self.offsets, self.positive = rows, offsets, positive

    def loss(self, concept: Concept) -> float:
        nearest = np.minimum.reduceat(distances(self.rows, concept), self.offsets[:-1])
        return single_loss(nearest, self.positive).value

    def improve(self, concept: Concept) -> Concept:
        chosen = _nearest_rows(distances(self.rows, concept), self.offsets)
        return descend(self.rows[chosen], concept, partial(single_loss, positive=self.positive))


def _nearest_rows(distances: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The row of the least distance in each bag, the first of equals."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort((distances, owners))[offsets[:-1]]
