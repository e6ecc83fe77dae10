"""Digits: bags of real handwritten digits, 8×8 pixels, that come with scikit-learn; nothing is downloaded.

A bag is positive if it holds the target digit (a nine). The 1,797 digits are split into a training and a test part
BEFORE bags are made, so no image of a test bag was ever seen in training.
"""

import numpy as np

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.datasets.drawing import check_room, draw_bags
from bagwise.errors import InputError
from bagwise.randomness import Purpose

SPLITS = ("train", "test")
BAGS = {"train": 300, "test": 200}
TRAINING_SHARE = 2 / 3
SPLIT_SEED = 0  # the split of the images never changes, whatever the seed of the bags


def load(
    split: str = "train",
    n_bags: int | None = None,
    mean_size: float = 10,
    spread: float = 2,
    target: int = 9,
    seed: int = 0,
) -> Bags:
    """Bags of digits with the digit's class as instance label (1 for the target).

    >>> load("test", n_bags=4)
    Bags: 4 bags, ... instances of 8×8 uint8, ...
    """
    if split not in SPLITS:
        raise InputError(f"digits has no split '{split}'; choose one of: {', '.join(SPLITS)}")
    images, digits = _pool(split)
    if target not in digits:
        raise InputError(f"target is {target}; choose a digit from 0 to 9")
    n_bags = BAGS[split] if n_bags is None else n_bags
    check_room(n_bags, mean_size, spread, images[0].nbytes)
    generator = randomness.generator(seed, Purpose.DATA, SPLITS.index(split))
    drawn = draw_bags(digits == target, n_bags, mean_size, spread, generator)
    return Bags(
        images[drawn.rows],
        drawn.offsets,
        labels=drawn.labels,
        names=np.array([f"{split}-{number:04d}" for number in range(len(drawn.labels))]),
        instance_labels=(digits[drawn.rows] == target).astype(int),
    )


def _pool(split: str) -> tuple[np.ndarray, np.ndarray]:
    """The images and digits of one part."""
    from sklearn.datasets import load_digits

    source = load_digits()
    order = randomness.generator(SPLIT_SEED, Purpose.SPLIT).permutation(len(source.target))
    cut = round(TRAINING_SHARE * len(order))
    rows = order[:cut] if split == "train" else order[cut:]
    return source.images[rows].astype(np.uint8), source.target[rows]
