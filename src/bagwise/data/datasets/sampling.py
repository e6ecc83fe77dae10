"""Sampling bags from a pool of labelled instances: the sizes of the bags, and their instances.

Sizes are normally distributed integers of at least one. Balanced bags are those of the paper: positive and negative in
turn; a positive bag is a random sample that contains at least one target, a negative bag a random sample of the others.
Random bags are random samples of the whole pool, positive if they happen to contain a target. All sampling is with
replacement.
"""

from typing import NamedTuple

import numpy as np

from bagwise.errors import InputError

MAX_BYTES = 1 << 31
BYTES_PER_BAG = 1000  # an upper bound for its name, label and offset


class SampledBags(NamedTuple):
    """The instances of the pool that each bag contains."""

    rows: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray


def check_sample_memory(n_bags: int, mean_size: float, spread: float, bytes_per_instance: int) -> None:
    """Reject bags that would fill the memory, before any is sampled; few bags exceed the mean by four spreads.

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
    """Sample balanced bags, with sizes that are the integers closest to normal(mean_size, spread).

    >>> sampled = sample_bags(np.arange(10) == 9, 4, 5, 1, np.random.default_rng(0))
    >>> sampled.labels.tolist()
    [1, 0, 1, 0]
    """
    return sample_balanced_bags(is_target, sample_closest_sizes(n_bags, mean_size, spread, generator), generator)


def sample_closest_sizes(n_bags: int, mean_size: float, deviation: float, generator: np.random.Generator) -> np.ndarray:
    """Sample sizes as the integers closest to normal variables, at least one."""
    return np.maximum(1, np.rint(_sample_normal(n_bags, mean_size, deviation, generator))).astype(int)


def sample_truncated_sizes(
    n_bags: int, mean_size: float, deviation: float, generator: np.random.Generator
) -> np.ndarray:
    """Sample sizes as truncated normal variables, at least one: half an instance smaller on average."""
    return np.maximum(1, _sample_normal(n_bags, mean_size, deviation, generator).astype(int))


def sample_balanced_bags(is_target: np.ndarray, sizes: np.ndarray, generator: np.random.Generator) -> SampledBags:
    """Sample positive and negative bags in turn."""
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
