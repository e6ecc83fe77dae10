"""Bags drawn from a pool of labelled instances, as the paper draws MNIST-bags.

Positive and negative bags in turn; a positive bag is a plain random draw that holds at least one target, a negative
bag is drawn from the rest; sizes are normally distributed.
"""

from typing import NamedTuple

import numpy as np

from bagwise.errors import InputError


class Drawn(NamedTuple):
    """Which instances of the pool each bag holds."""

    rows: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray


def draw_bags(
    is_target: np.ndarray, n_bags: int, mean_size: float, spread: float, generator: np.random.Generator
) -> Drawn:
    """Draw bags with replacement; sizes are the closest whole numbers to normal(mean_size, spread), at least one.

    >>> drawn = draw_bags(np.arange(10) == 9, 4, 5, 1, np.random.default_rng(0))
    >>> drawn.labels.tolist()
    [1, 0, 1, 0]
    """
    if n_bags < 2:
        raise InputError(f"n_bags is {n_bags}; draw at least 2, one of each class")
    if mean_size < 1 or spread < 0:
        raise InputError(f"mean_size is {mean_size} and spread {spread}; give a mean of at least 1, a spread from 0 on")
    sizes = np.maximum(1, np.rint(generator.normal(mean_size, spread, n_bags))).astype(int)
    labels = 1 - np.arange(n_bags) % 2
    others = np.flatnonzero(~is_target)
    rows = [
        _positive(is_target, int(size), generator) if label else generator.choice(others, size)
        for size, label in zip(sizes, labels, strict=True)
    ]
    return Drawn(np.concatenate(rows), np.concatenate([[0], np.cumsum(sizes)]), labels)


def _positive(is_target: np.ndarray, size: int, generator: np.random.Generator) -> np.ndarray:
    while True:
        rows = generator.integers(len(is_target), size=size)
        if is_target[rows].any():
            return rows
