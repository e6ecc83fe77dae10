"""Alternating minimisation: fit a plane to an assignment, then choose the best assignment for the plane.

    J(plane, assignment)        plane ← argmin J(·, assignment)        assignment ← argmin J(plane, ·)

Both steps minimise the same objective, so it never increases. If a new plane is not better for the new assignment than
the previous one (the solver is exact only up to its tolerance), the previous plane is kept; it and the new assignment
are then a fixed point. The objective decreases strictly from plane to plane, so no assignment occurs twice and there
are no cycles.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from bagwise.estimators.classical.hyperplanes import Plane, Space, TrainingPoints, compute_objective


class LatentVariables(ABC):
    """Abstract base class of what the labels of bags leave open about their instances.

    An assignment of the latent variables is an array.
    """

    @abstractmethod
    def initial_assignment(self) -> np.ndarray:
        """Return the assignment to start with."""

    @abstractmethod
    def best_assignment(self, scores: np.ndarray) -> np.ndarray:
        """Return the assignment of minimum loss for the scores of all rows."""

    @abstractmethod
    def make_points(self, assignment: np.ndarray) -> TrainingPoints:
        """Return the points to separate under an assignment."""


class Descent(NamedTuple):
    """The result of an alternating minimisation."""

    plane: Plane
    assignment: np.ndarray
    objectives: np.ndarray  # after each fit of a plane, never increasing
    converged: bool  # whether the assignment is the best one for the plane


def alternate(space: Space, latent: LatentVariables, max_fits: int) -> Descent:
    """Alternate until the assignment does not change, or until the maximum number of planes is fitted."""
    assignment = latent.initial_assignment()
    plane = space.fit_plane(latent.make_points(assignment))
    objectives = [compute_objective(plane, latent.make_points(assignment))]
    converged = True
    while not np.array_equal(better := latent.best_assignment(plane.scores), assignment):
        if len(objectives) >= max_fits:
            converged = False
            break
        assignment, points = better, latent.make_points(better)
        plane = min(plane, space.fit_plane(points), key=lambda candidate: compute_objective(candidate, points))
        objectives.append(compute_objective(plane, points))
    return Descent(plane=plane, assignment=assignment, objectives=np.array(objectives), converged=converged)


def select_winners(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Mark the row with the maximum score of each bag, the first one if there are several.

    >>> select_winners(np.array([1.0, 3.0, 3.0, 0.0]), np.array([0, 3, 4]))
    array([False,  True, False,  True])
    """
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    maxima = np.flatnonzero(scores == np.maximum.reduceat(scores, offsets[:-1])[owners])
    _, first = np.unique(owners[maxima], return_index=True)
    is_winner = np.zeros(len(scores), dtype=bool)
    is_winner[maxima[first]] = True
    return is_winner
