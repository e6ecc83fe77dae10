"""Needles: synthetic bags of Gaussian noise; each positive bag contains a few shifted instances, the needles.

Every feature of the noise is normal(0, 1); a needle is shifted in a few features. Instance labels are 1 for needles.
The data set "wide" has few bags and thousands of features, as gene expression or molecular descriptors do.
"""

import math

import numpy as np

from bagwise.bags import Bags
from bagwise.data.datasets.sampling import check_sample_memory
from bagwise.errors import InputError
from bagwise.nn import Purpose, make_generator

BYTES_PER_FEATURE = 12  # peak during generation: the float64 sample and its float32 copy
MAX_SHIFT = 1e6


def load_needles(
    n_bags: int = 200,
    mean_size: float = 10,
    n_features: int = 16,
    n_shifted: int = 4,
    shift: float = 2.0,
    seed: int = 0,
) -> Bags:
    """Generate alternating positive and negative bags; a positive bag contains one to three needles.

    Parameters
    ----------
    n_bags : int, default=200
        Number of bags, at least 2.
    mean_size : float, default=10
        Mean bag size, at least 1. Sizes are 1 plus a Poisson variable.
    n_features : int, default=16
        Number of features.
    n_shifted : int, default=4
        Number of features in which a needle is shifted.
    shift : float, default=2.0
        Shift of a needle, in standard deviations of the noise.
    seed : int, default=0
        Random seed.

    Returns
    -------
    Bags

    Examples
    --------
    >>> load_needles(n_bags=2).labels
    array([1, 0])
    """
    if n_bags < 2 or mean_size < 1 or not 1 <= n_shifted <= n_features or abs(shift) > MAX_SHIFT:
        raise InputError(
            f"synthetic bags require n_bags ≥ 2, mean_size ≥ 1, 1 ≤ n_shifted ≤ n_features and |shift| ≤ {MAX_SHIFT:g}"
            f", got n_bags={n_bags}, mean_size={mean_size}, n_shifted={n_shifted}, n_features={n_features} and "
            f"shift={shift}"
        )
    check_sample_memory(n_bags, mean_size, math.sqrt(mean_size), n_features * BYTES_PER_FEATURE)
    generator = make_generator(seed, Purpose.DATA)
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


def load_wide_bags(
    n_bags: int = 50,
    mean_size: float = 10,
    n_features: int = 5000,
    n_shifted: int = 20,
    shift: float = 2.0,
    seed: int = 0,
) -> Bags:
    """Generate needles in few wide bags: 50 bags of 5,000 features, of which 20 tell a needle from the noise.

    Parameters
    ----------
    n_bags : int, default=50
        Number of bags, at least 2.
    mean_size : float, default=10
        Mean bag size, at least 1. Sizes are 1 plus a Poisson variable.
    n_features : int, default=5000
        Number of features.
    n_shifted : int, default=20
        Number of features in which a needle is shifted.
    shift : float, default=2.0
        Shift of a needle, in standard deviations of the noise.
    seed : int, default=0
        Random seed.

    Returns
    -------
    Bags

    Examples
    --------
    >>> load_wide_bags(n_bags=2).instance_shape
    (5000,)
    """
    return load_needles(n_bags, mean_size, n_features, n_shifted, shift, seed)
