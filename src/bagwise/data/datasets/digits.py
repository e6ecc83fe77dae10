"""Digits: bags of handwritten digits of 8×8 pixels, which are part of scikit-learn; nothing is downloaded.

A bag is positive if it contains the target digit (nine by default). The 1,797 images are split into a training and a
test part before bags are sampled, so no image occurs in both training and test bags.
"""

import numpy as np

from bagwise.bags import Bags
from bagwise.data.datasets.sampling import check_sample_memory, sample_bags
from bagwise.errors import InputError
from bagwise.nn import Purpose, make_generator

DIGIT_SPLITS = ("train", "test")
DEFAULT_BAGS = {"train": 300, "test": 200}
TRAINING_SHARE = 2 / 3
SPLIT_SEED = 0  # fixed: the split of the images does not depend on the seed of the bags


def load_digit_bags(
    split: str = "train",
    n_bags: int | None = None,
    mean_size: float = 10,
    spread: float = 2,
    target: int = 9,
    seed: int = 0,
) -> Bags:
    """Sample bags of digits; instance labels are 1 for the target digit.

    Parameters
    ----------
    split : {"train", "test"}, default="train"
        The part of the images to sample from.
    n_bags : int or None, default=None
        Number of bags; None means 300 training bags or 200 test bags.
    mean_size : float, default=10
        Mean of the bag sizes.
    spread : float, default=2
        Standard deviation of the bag sizes.
    target : int, default=9
        The digit that makes a bag positive.
    seed : int, default=0
        Random seed of the bags.

    Returns
    -------
    Bags

    Examples
    --------
    >>> load_digit_bags("test", n_bags=4)
    Bags: 4 bags, ... instances of 8×8 uint8, ...
    """
    if split not in DIGIT_SPLITS:
        raise InputError(f"digits has no split '{split}'; choose one of: {', '.join(DIGIT_SPLITS)}")
    images, digits = _load_images(split)
    if target not in digits:
        raise InputError(f"target must be a digit from 0 to 9, got {target}")
    n_bags = DEFAULT_BAGS[split] if n_bags is None else n_bags
    check_sample_memory(n_bags, mean_size, spread, images[0].nbytes)
    generator = make_generator(seed, Purpose.DATA, DIGIT_SPLITS.index(split))
    sampled = sample_bags(digits == target, n_bags, mean_size, spread, generator)
    return Bags(
        images[sampled.rows],
        sampled.offsets,
        labels=sampled.labels,
        names=np.array([f"{split}-{number:04d}" for number in range(len(sampled.labels))]),
        instance_labels=(digits[sampled.rows] == target).astype(int),
    )


def _load_images(split: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the images and digits of one part."""
    from sklearn.datasets import load_digits

    source = load_digits()
    order = make_generator(SPLIT_SEED, Purpose.SPLIT).permutation(len(source.target))
    cut = round(TRAINING_SHARE * len(order))
    rows = order[:cut] if split == "train" else order[cut:]
    return source.images[rows].astype(np.uint8), source.target[rows]
