"""Alternating minimisation: a plane for the guess, then the best guess for the plane, until the guess stands.

    J(plane, guess)        plane ← argmin J(·, guess)        guess ← argmin J(plane, ·)

Each step minimises the same objective, so it never rises. A plane that is no better for a new guess than the old one
(the solver is exact up to its tolerance) is not taken, and then the old plane with the new guess is a fixed point.
The objective falls strictly from plane to plane, so no guess comes twice: there are no cycles.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from bagwise.estimators.svm.planes import Plane, Points, Space, objective


class Unknown(ABC):
    """What the labels of bags leave open of their instances, as an array."""

    @abstractmethod
    def first(self) -> np.ndarray:
        """The guess to start with."""

    @abstractmethod
    def best(self, scores: np.ndarray) -> np.ndarray:
        """The guess of the least loss, by scores of all rows: a function of them alone."""

    @abstractmethod
    def points(self, guess: np.ndarray) -> Points:
        """What is to be separated if the guess is right."""


class Descent(NamedTuple):
    """Where the alternation came to rest."""

    plane: Plane
    guess: np.ndarray
    objectives: np.ndarray  # of each plane with its guess, never rising
    converged: bool  # whether the guess is the best one for the plane


def alternate(space: Space, unknown: Unknown, most: int) -> Descent:
    """Fit at most so many planes."""
    guess = unknown.first()
    plane = space.separate(unknown.points(guess))
    objectives = [objective(plane, unknown.points(guess))]
    while not np.array_equal(better := unknown.best(plane.scores), guess):
        if len(objectives) >= most:
            return Descent(plane, guess, np.array(objectives), converged=False)
        guess, points = better, unknown.points(better)
        plane = min(plane, space.separate(points), key=lambda each: objective(each, points))
        objectives.append(objective(plane, points))
    return Descent(plane, guess, np.array(objectives), converged=True)


def winners(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Whether a row is the one of the greatest score in its bag, the first of several.

    >>> winners(np.array([1.0, 3.0, 3.0, 0.0]), np.array([0, 3, 4]))
    array([False,  True, False,  True])
    """
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    peaks = np.flatnonzero(scores == np.maximum.reduceat(scores, offsets[:-1])[owners])
    _, first = np.unique(owners[peaks], return_index=True)
    won = np.zeros(len(scores), dtype=bool)
    won[peaks[first]] = True
    return won
