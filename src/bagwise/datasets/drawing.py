"""Bags drawn from a pool of labelled instances: how many instances a bag has, and which.

Sizes are normally distributed, as whole numbers of at least one. Balanced bags are the paper's: positive and negative
in turn, a positive bag a plain random draw that holds at least one target, a negative bag drawn from the rest. Random
bags are plain random draws, positive if they happen to hold a target. All draws are with replacement.
"""

from typing import NamedTuple

import numpy as np

from bagwise.errors import InputError

MOST_BYTES = 1 << 31
BYTES_A_BAG = 1000  # its name, its label and its place, at the most


class Drawn(NamedTuple):
    """Which instances of the pool each bag holds."""

    rows: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray


def check_room(n_bags: int, mean_size: float, spread: float, bytes_an_instance: int) -> None:
    """Refuse bags that would fill the memory, before any is drawn; hardly one is four spreads larger than the mean.

    >>> check_room(500, 100, 20, 28 * 28)
    """
    largest = (mean_size + 4 * max(spread, 0)) * bytes_an_instance + BYTES_A_BAG
    if max(n_bags, bytes_an_instance) > MOST_BYTES or n_bags * largest > MOST_BYTES:
        raise InputError(
            f"so many bags of this size would fill more than {MOST_BYTES >> 30} GB; ask for fewer or smaller bags"
        )


def draw_bags(
    is_target: np.ndarray, n_bags: int, mean_size: float, spread: float, generator: np.random.Generator
) -> Drawn:
    """Balanced bags whose sizes are the closest whole numbers to normal(mean_size, spread).

    >>> drawn = draw_bags(np.arange(10) == 9, 4, 5, 1, np.random.default_rng(0))
    >>> drawn.labels.tolist()
    [1, 0, 1, 0]
    """
    return draw_balanced(is_target, closest_sizes(n_bags, mean_size, spread, generator), generator)


def closest_sizes(n_bags: int, mean_size: float, deviation: float, generator: np.random.Generator) -> np.ndarray:
    """The closest whole numbers to normal draws, at least one."""
    return np.maximum(1, np.rint(_normal(n_bags, mean_size, deviation, generator))).astype(int)


def truncated_sizes(n_bags: int, mean_size: float, deviation: float, generator: np.random.Generator) -> np.ndarray:
    """Normal draws without their fractions, at least one: on average half an instance less."""
    return np.maximum(1, _normal(n_bags, mean_size, deviation, generator).astype(int))


def draw_balanced(is_target: np.ndarray, sizes: np.ndarray, generator: np.random.Generator) -> Drawn:
    """Positive and negative bags in turn."""
    if is_target.all() or not is_target.any():
        raise InputError("the pool has only targets or none; a negative bag needs others, a positive bag a target")
    labels = 1 - np.arange(len(sizes)) % 2
    others = np.flatnonzero(~is_target)
    rows = [
        _positive(is_target, int(size), generator) if label else generator.choice(others, size)
        for size, label in zip(sizes, labels, strict=True)
    ]
    return Drawn(np.concatenate(rows), _offsets(sizes), labels)


def draw_random(is_target: np.ndarray, sizes: np.ndarray, generator: np.random.Generator) -> Drawn:
    """Plain random bags; the larger they are, the more of them are positive.

    >>> draw_random(np.arange(10) == 9, np.array([3, 1]), np.random.default_rng(0)).rows.tolist()
    [8, 6, 5, 2]
    """
    rows = generator.integers(len(is_target), size=sizes.sum())
    offsets = _offsets(sizes)
    return Drawn(rows, offsets, np.logical_or.reduceat(is_target[rows], offsets[:-1]).astype(int))


def _normal(n_bags: int, mean_size: float, deviation: float, generator: np.random.Generator) -> np.ndarray:
    if n_bags < 2:
        raise InputError(f"n_bags is {n_bags}; draw at least 2, one of each class")
    if mean_size < 1 or deviation < 0:
        raise InputError(
            f"mean_size is {mean_size} and spread {deviation}; give a mean of at least 1, a spread from 0 on"
        )
    return generator.normal(mean_size, deviation, n_bags)


def _offsets(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)])


def _positive(is_target: np.ndarray, size: int, generator: np.random.Generator) -> np.ndarray:
    while True:
        rows = generator.integers(len(is_target), size=size)
        if is_target[rows].any():
            return rows
