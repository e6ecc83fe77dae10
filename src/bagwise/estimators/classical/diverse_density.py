"""Diverse Density (Maron & Lozano-Pérez 1998): a concept is a point near positive bags and far from negative bags.

    dᵢ = Σ_f s_f² (x_if − h_f)²        Pᵢ = exp(−dᵢ)                the concept is (h, s)
    noisy-or:               P(bag) = 1 − Πᵢ (1 − Pᵢ)
    most likely instance:   P(bag) = maxᵢ Pᵢ

A loss is the negative log-likelihood of bags. It depends only on the distances, so each loss function returns its value
and its gradient with respect to the distances, and ``evaluate_loss`` propagates the gradient to the point h and the
scales s. All computations use logarithms, to avoid overflow and underflow: log Pᵢ = −dᵢ,
log(1 − Pᵢ) = log(−expm1(−dᵢ)).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from bagwise.nn import segment_log_sum_exp
from bagwise.training import array_to_tensor

MAX_STEPS = 25  # of L-BFGS; full convergence is not needed, as the next E step may select other instances
MIN_DISTANCE = 1e-6  # added to every distance: at d = 0, an instance of a negative bag would have an infinite loss
SMALL_LOG = -37.0  # log x below which 1 − exp(−x) and −log(1 − x) equal x in float64


@dataclass(frozen=True)
class Concept:
    """A point in the space of instances, and the scale of each feature."""

    point: np.ndarray
    scales: np.ndarray


class DistanceLoss(NamedTuple):
    """A loss, and its gradient with respect to the distances of the rows."""

    value: float
    gradients: np.ndarray


class ConceptLoss(NamedTuple):
    """A loss, and its gradients with respect to the concept."""

    value: float
    point_gradient: np.ndarray
    scales_gradient: np.ndarray


LossFunction = Callable[[np.ndarray], DistanceLoss]  # a function of the distances of rows


class Objective(ABC):
    """Abstract base class of objectives of the search for a concept."""

    @abstractmethod
    def loss(self, concept: Concept) -> float:
        """Compute the negative log-likelihood of all bags."""

    @abstractmethod
    def improve(self, concept: Concept) -> Concept:
        """Return the concept after one iteration."""


class NoisyOrObjective(Objective):
    """The objective of Diverse Density: the noisy-or loss of bags, minimised over all instances at once."""

    def __init__(self, rows: np.ndarray, offsets: np.ndarray, positive: np.ndarray) -> None:
        self.rows = rows
        self.distance_loss = partial(compute_noisy_or_loss, offsets=offsets, positive=positive)

    def loss(self, concept: Concept) -> float:
        return self.distance_loss(compute_distances(self.rows, concept)).value

    def improve(self, concept: Concept) -> Concept:
        return minimize_loss(self.rows, concept, self.distance_loss)


class MostLikelyObjective(Objective):
    """The objective of EM-DD: the loss of the most likely instance of each bag; an iteration is an E and an M step."""

    def __init__(self, rows: np.ndarray, offsets: np.ndarray, positive: np.ndarray) -> None:
        self.rows, self.offsets, self.positive = rows, offsets, positive

    def loss(self, concept: Concept) -> float:
        nearest = np.minimum.reduceat(compute_distances(self.rows, concept), self.offsets[:-1])
        return compute_single_loss(nearest, self.positive).value

    def improve(self, concept: Concept) -> Concept:
        nearest = _find_nearest_rows(compute_distances(self.rows, concept), self.offsets)
        return minimize_loss(self.rows[nearest], concept, partial(compute_single_loss, positive=self.positive))


def _find_nearest_rows(distances: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the index of the row of minimum distance in each bag; the first one if there are several."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort((distances, owners))[offsets[:-1]]


def minimize_loss(rows: np.ndarray, concept: Concept, loss: LossFunction) -> Concept:
    """Minimise the loss with at most ``MAX_STEPS`` steps of L-BFGS."""

    def evaluate(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        evaluated = evaluate_loss(rows, Concept(*np.split(parameters, 2)), loss)
        return evaluated.value, np.concatenate([evaluated.point_gradient, evaluated.scales_gradient])

    start = np.concatenate([concept.point, concept.scales])
    found = minimize(evaluate, start, jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS})
    return Concept(*np.split(found.x, 2))


def evaluate_loss(rows: np.ndarray, concept: Concept, loss: LossFunction) -> ConceptLoss:
    """Compute the loss of rows, and its gradients with respect to the concept."""
    differences = rows - concept.point
    squares = np.square(differences)
    weights = np.square(concept.scales)
    value, gradients = loss(squares @ weights + MIN_DISTANCE)
    return ConceptLoss(
        value=value,
        point_gradient=-2 * weights * (gradients @ differences),
        scales_gradient=2 * concept.scales * (gradients @ squares),
    )


def compute_distances(rows: np.ndarray, concept: Concept) -> np.ndarray:
    """Compute −log Pᵢ of each row; equal rows have bit-identical distances, independent of their position."""
    return np.square((rows - concept.point) * concept.scales).sum(axis=1) + MIN_DISTANCE


def compute_single_loss(distances: np.ndarray, positive: np.ndarray) -> DistanceLoss:
    """Compute the loss of bags that are represented by one row each; ``positive`` is a mask of the positive bags."""
    values = np.where(positive, distances, -compute_log_absence(distances))
    return DistanceLoss(float(values.sum()), np.where(positive, 1.0, -np.exp(compute_log_odds(distances))))


def compute_noisy_or_loss(distances: np.ndarray, offsets: np.ndarray, positive: np.ndarray) -> DistanceLoss:
    """Compute the noisy-or loss of bags; ``positive`` is a mask of the positive bags.

    With U = −Σᵢ log(1 − Pᵢ), the loss of a negative bag is U, and the loss of a positive bag is −log(1 − exp(−U)).
    """
    log_hazards = array_to_tensor(_compute_log_hazard(distances)[:, None])
    log_total = segment_log_sum_exp(log_hazards, array_to_tensor(offsets)).numpy()[:, 0]
    total, log_presence = np.exp(log_total), _compute_log_presence(log_total)
    values = np.where(positive, -log_presence, total)
    # log |d loss / dU| of each bag; the gradient of U with respect to dᵢ is −odds
    log_gradients = np.where(positive, -total - log_presence, 0.0)
    owners = np.repeat(np.arange(len(positive)), np.diff(offsets))
    gradients = np.where(positive, 1.0, -1.0)[owners] * np.exp(log_gradients[owners] + compute_log_odds(distances))
    return DistanceLoss(float(values.sum()), gradients)


def compute_log_odds(distances: np.ndarray) -> np.ndarray:
    """Compute the log-odds log P − log(1 − P).

    >>> compute_log_odds(np.array([np.log(2), 1e4])).round(12)
    array([    0., -10000.])
    """
    return -distances - compute_log_absence(distances)


def compute_log_absence(distances: np.ndarray) -> np.ndarray:
    """Compute log(1 − P) with full precision for small and large distances."""
    far = np.maximum(distances, np.log(2))  # for small P, 1 − P loses the digits of P, so log1p is used
    return np.where(distances < np.log(2), np.log(-np.expm1(-distances)), np.log1p(-np.exp(-far)))


def _compute_log_hazard(distances: np.ndarray) -> np.ndarray:
    """Compute log(−log(1 − P)), which is log P where P is small."""
    return np.where(-distances < SMALL_LOG, -distances, np.log(-compute_log_absence(np.minimum(distances, -SMALL_LOG))))


def _compute_log_presence(log_total: np.ndarray) -> np.ndarray:
    """Compute log(1 − exp(−U)), which is log U where U is small."""
    return np.where(log_total < SMALL_LOG, log_total, compute_log_absence(np.exp(np.maximum(log_total, SMALL_LOG))))
