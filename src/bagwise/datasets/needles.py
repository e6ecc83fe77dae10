"""Needles: synthetic bags of Gaussian hay, of which the positive ones hold a few needles.

Hay is normal(0, 1) in every feature; a needle is shifted in a few of them. Instance labels tell which is which.
"""

import math

import numpy as np

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.datasets.drawing import check_room
from bagwise.errors import InputError
from bagwise.randomness import Purpose

FLOATS = 12  # bytes a feature while it is made: as it is drawn, and as it is kept
LARGEST_SHIFT = 1e6


def load(
    n_bags: int = 200,
    mean_size: float = 10,
    n_features: int = 16,
    n_shifted: int = 4,
    shift: float = 2.0,
    seed: int = 0,
) -> Bags:
    """Positive and negative bags in turn; a positive bag holds one to three needles.

    >>> load(n_bags=2).labels
    array([1, 0])
    """
    if n_bags < 2 or mean_size < 1 or not 1 <= n_shifted <= n_features or abs(shift) > LARGEST_SHIFT:
        raise InputError(
            "needles needs n_bags of at least 2, mean_size of at least 1, n_shifted within n_features, and a shift "
            f"within ±{LARGEST_SHIFT:g}"
        )
    check_room(n_bags, mean_size, math.sqrt(mean_size), n_features * FLOATS)
    generator = randomness.generator(seed, Purpose.DATA)
    sizes = 1 + generator.poisson(mean_size - 1, n_bags)
    labels = 1 - np.arange(n_bags) % 2
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    is_needle = np.zeros(offsets[-1], dtype=int)
    for bag in np.flatnonzero(labels):
        count = min(sizes[bag], generator.integers(1, 4))
        is_needle[offsets[bag] + generator.choice(sizes[bag], count, replace=False)] = 1
    instances = generator.normal(size=(offsets[-1], n_features)).astype(np.float32)
    instances[is_needle == 1, :n_shifted] += shift
    names = np.array([f"bag-{number:04d}" for number in range(n_bags)])
    return Bags(instances, offsets, labels=labels, names=names, instance_labels=is_needle)
