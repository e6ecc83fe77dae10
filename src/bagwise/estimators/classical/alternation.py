"""Alternating minimisation: fit a hyperplane to an assignment, then choose the best assignment for the hyperplane.

    J(plane, assignment)        plane ← argmin J(·, assignment)        assignment ← argmin J(plane, ·)

Both steps minimise the same objective J, so it never increases. The solver is exact only up to its tolerance: if a new
plane is not better for the new assignment than the previous plane, the previous plane is kept, and the iteration ends
at a fixed point. The objective decreases strictly from plane to plane, so no assignment occurs twice and there are no
cycles.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from bagwise.estimators.classical.hyperplanes import Hyperplane, Space, TrainingPoints, compute_objective


class LatentVariables(ABC):
    """Abstract base class of latent variables: the unknowns about the instances that bag labels do not determine.

    An assignment of values to the latent variables is an array.
    """

    @abstractmethod
    def initial_assignment(self) -> np.ndarray:
        """Return the assignment to start with."""

    @abstractmethod
    def best_assignment(self, scores: np.ndarray) -> np.ndarray:
        """Return the assignment of minimum loss, given the scores of all rows."""

    @abstractmethod
    def make_points(self, assignment: np.ndarray) -> TrainingPoints:
        """Return the points to separate under an assignment."""


class Descent(NamedTuple):
    """The result of an alternating minimisation."""

    plane: Hyperplane
    assignment: np.ndarray
    objectives: np.ndarray  # after each fit of a plane; never increasing
    converged: bool  # whether the assignment is the best for the plane


def minimize_alternately(space: Space, latent: LatentVariables, max_fits: int) -> Descent:
    """Alternate until the assignment does not change, or until ``max_fits`` planes have been fitted."""
    assignment = latent.initial_assignment()
    plane = space.fit_hyperplane(latent.make_points(assignment))
    objectives = [compute_objective(plane, latent.make_points(assignment))]
    converged = True
    while not np.array_equal(better := latent.best_assignment(plane.scores), assignment):
        if len(objectives) >= max_fits:
            converged = False
            break
        assignment, points = better, latent.make_points(better)
        plane = min(plane, space.fit_hyperplane(points), key=lambda candidate: compute_objective(candidate, points))
        objectives.append(compute_objective(plane, points))
    return Descent(plane=plane, assignment=assignment, objectives=np.array(objectives), converged=converged)


def mark_witnesses(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return a mask of the row of maximum score in each bag; the first one if there are several.

    >>> mark_witnesses(np.array([1.0, 3.0, 3.0, 0.0]), np.array([0, 3, 4]))
    array([False,  True, False,  True])
    """
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    maxima = np.flatnonzero(scores == np.maximum.reduceat(scores, offsets[:-1])[owners])
    _, first = np.unique(owners[maxima], return_index=True)
    is_winner = np.zeros(len(scores), dtype=bool)
    is_winner[maxima[first]] = True
    return is_winner
