"""Sampling bags from a pool of labelled instances: the sizes of the bags, and their instances.

Sizes are normally distributed, rounded or truncated to integers, and at least one. Targets are the instances that make
a bag positive. Balanced bags, as in the paper, are alternately positive and negative: a positive bag is a random sample
of the pool with at least one target, a negative bag is a random sample of the other instances. Random bags are random
samples of the whole pool, and positive if they contain a target. All sampling is with replacement.
"""

from typing import NamedTuple

import numpy as np

from bagwise.errors import InputError

MAX_BYTES = 1 << 31
BYTES_PER_BAG = 1000  # upper bound of the name, label and offset of a bag


class SampledBags(NamedTuple):
    """The rows of the pool that the bags contain, packed; the offsets of the bags; and the labels of the bags."""

    rows: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray


def check_sample_memory(n_bags: int, mean_size: float, spread: float, bytes_per_instance: int) -> None:
    """Reject bags that may need more than ``MAX_BYTES``, before any are sampled.

    Every bag is assumed to be four standard deviations (``spread``) larger than the mean.

    >>> check_sample_memory(500, 100, 20, 28 * 28)
    """
    largest = (mean_size + 4 * max(spread, 0)) * bytes_per_instance + BYTES_PER_BAG
    if max(n_bags, bytes_per_instance) > MAX_BYTES or n_bags * largest > MAX_BYTES:
        raise InputError(
            f"bags of this number and size may need more than {MAX_BYTES >> 30} GB; reduce n_bags or mean_size, or the "
            "size of an instance"
        )


def sample_bags(
    is_target: np.ndarray, n_bags: int, mean_size: float, spread: float, generator: np.random.Generator
) -> SampledBags:
    """Sample balanced bags; their sizes are normal(mean_size, spread), rounded to integers.

    >>> sampled = sample_bags(np.arange(10) == 9, 4, 5, 1, np.random.default_rng(0))
    >>> sampled.labels.tolist()
    [1, 0, 1, 0]
    """
    return sample_balanced_bags(is_target, sample_closest_sizes(n_bags, mean_size, spread, generator), generator)


def sample_closest_sizes(n_bags: int, mean_size: float, deviation: float, generator: np.random.Generator) -> np.ndarray:
    """Sample normal variables, rounded to integers of at least one."""
    return np.maximum(1, np.rint(_sample_normal(n_bags, mean_size, deviation, generator))).astype(int)


def sample_truncated_sizes(
    n_bags: int, mean_size: float, deviation: float, generator: np.random.Generator
) -> np.ndarray:
    """Sample normal variables, truncated to integers of at least one: the mean is half an instance smaller."""
    return np.maximum(1, _sample_normal(n_bags, mean_size, deviation, generator).astype(int))


def sample_balanced_bags(is_target: np.ndarray, sizes: np.ndarray, generator: np.random.Generator) -> SampledBags:
    """Sample bags that are alternately positive and negative."""
    if is_target.all() or not is_target.any():
        raise InputError(
            "the pool must contain targets and other instances: a positive bag needs a target, a negative bag others"
        )
    labels = 1 - np.arange(len(sizes)) % 2
    others = np.flatnonzero(~is_target)
    rows = [
        _sample_positive(is_target, int(size), generator) if label else generator.choice(others, size)
        for size, label in zip(sizes, labels, strict=True)
    ]
    return SampledBags(np.concatenate(rows), _compute_offsets(sizes), labels)


def sample_random_bags(is_target: np.ndarray, sizes: np.ndarray, generator: np.random.Generator) -> SampledBags:
    """Sample random bags; the larger they are, the more of them are positive.

    >>> sample_random_bags(np.arange(10) == 9, np.array([3, 1]), np.random.default_rng(0)).rows.tolist()
    [8, 6, 5, 2]
    """
    rows = generator.integers(len(is_target), size=sizes.sum())
    offsets = _compute_offsets(sizes)
    return SampledBags(rows, offsets, np.logical_or.reduceat(is_target[rows], offsets[:-1]).astype(int))


def _sample_normal(n_bags: int, mean_size: float, deviation: float, generator: np.random.Generator) -> np.ndarray:
    if n_bags < 2:
        raise InputError(f"n_bags must be at least 2, one bag of each class, got {n_bags}")
    if mean_size < 1 or deviation < 0:
        raise InputError(
            f"mean_size must be at least 1 and spread at least 0, got mean_size={mean_size} and spread={deviation}"
        )
    return generator.normal(mean_size, deviation, n_bags)


def _compute_offsets(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)])


def _sample_positive(is_target: np.ndarray, size: int, generator: np.random.Generator) -> np.ndarray:
    while True:
        rows = generator.integers(len(is_target), size=size)
        if is_target[rows].any():
            return rows
