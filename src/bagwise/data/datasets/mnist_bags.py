"""MNIST-bags (Ilse et al. 2018, section 4.2): bags of handwritten digits, positive if they contain a target (a nine).

Training bags are sampled from the 60,000 training images, test bags from the 10,000 test images. The paper uses means
of 10, 50 and 100 with a spread s of 2, 10 and 20. Its text and the code of its authors differ in what the spread means:

    "authors"   int(normal(mean, s)): s is a standard deviation, fractions are truncated (used for the paper's results)
    "text"      the integer closest to normal(mean, √s): s is a variance
"""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bagwise.arguments import choose_by_name
from bagwise.bags import Bags
from bagwise.data.datasets.dataset_files import read_content
from bagwise.data.datasets.home import locate_files
from bagwise.data.datasets.sampling import (
    SampledBags,
    check_sample_memory,
    sample_balanced_bags,
    sample_closest_sizes,
    sample_random_bags,
    sample_truncated_sizes,
)
from bagwise.errors import InputError
from bagwise.nn import Purpose, make_generator

MNIST_SPLITS = ("train", "test")
DEFAULT_BAGS = {"train": 200, "test": 1000}
FILE_PREFIXES = {"train": "train", "test": "t10k"}
SPREADS = {10: 2.0, 50: 10.0, 100: 20.0}  # by mean size, as in the paper; a fifth of any other mean
SAMPLINGS: dict[str, Callable[..., SampledBags]] = {"balanced": sample_balanced_bags, "random": sample_random_bags}
LENGTHS = ("authors", "text")


def load_mnist_bags(
    split: str = "train",
    n_bags: int | None = None,
    mean_size: float = 10,
    spread: float | None = None,
    target: int | list[int] = 9,
    seed: int = 0,
    sampling: str = "balanced",
    lengths: str = "authors",
) -> Bags:
    """Sample bags of 28×28 images (uint8); instance labels are 1 for targets and are used in evaluation only.

    Parameters
    ----------
    split : {"train", "test"}, default="train"
        The part of the images to sample from.
    n_bags : int or None, default=None
        Number of bags; None means 200 training bags or 1,000 test bags.
    mean_size : float, default=10
        Mean of the bag sizes.
    spread : float or None, default=None
        Spread of the bag sizes, see ``lengths``; None means a fifth of the mean, as in the paper.
    target : int or list of int, default=9
        The digits that make a bag positive.
    seed : int, default=0
        Random seed of the bags.
    sampling : {"balanced", "random"}, default="balanced"
        "balanced", as in the paper, alternates positive and negative bags; "random" samples all instances at random, so
        that most large bags are positive.
    lengths : {"authors", "text"}, default="authors"
        Meaning of ``spread``: a standard deviation, as in the code of the paper's authors, or a variance, as in the
        text of the paper.

    Returns
    -------
    Bags
    """
    if split not in MNIST_SPLITS:
        raise InputError(f"mnist-bags has no split '{split}'; choose one of: {', '.join(MNIST_SPLITS)}")
    sample = choose_by_name(sampling, SAMPLINGS, "sampling")
    choose_by_name(lengths, dict.fromkeys(LENGTHS, True), "lengths")
    images, digits = load_mnist_digits(split)
    is_target = np.isin(digits, _check_targets(target))
    n_bags = DEFAULT_BAGS[split] if n_bags is None else n_bags
    spread = SPREADS.get(mean_size, 0.2 * mean_size) if spread is None else spread  # type: ignore[call-overload]
    check_sample_memory(n_bags, mean_size, spread, images[0].nbytes)
    generator = make_generator(seed, Purpose.DATA, MNIST_SPLITS.index(split))
    sizes = _sample_sizes(n_bags, mean_size, spread, lengths, generator)
    sampled = sample(is_target, sizes, generator)
    return Bags(
        images[sampled.rows],
        sampled.offsets,
        labels=sampled.labels,
        names=np.array([f"{split}-{number:04d}" for number in range(len(sizes))]),
        instance_labels=is_target[sampled.rows].astype(int),
    )


def load_mnist_digits(split: str) -> tuple[np.ndarray, np.ndarray]:
    """Return all images of a split, of shape (n, 28, 28), and their digits."""
    files = locate_files("mnist-bags")
    images = _read_idx(files[f"mnist/{FILE_PREFIXES[split]}-images-idx3-ubyte"], 3)
    digits = _read_idx(files[f"mnist/{FILE_PREFIXES[split]}-labels-idx1-ubyte"], 1)
    if len(images) != len(digits):
        raise InputError(
            f"MNIST has {len(images)} images and {len(digits)} labels; "
            "fetch it again with: bagwise data fetch mnist-bags"
        )
    return images, digits


def _sample_sizes(
    n_bags: int, mean_size: float, spread: float, lengths: str, generator: np.random.Generator
) -> np.ndarray:
    if lengths.lower() == "authors":
        return sample_truncated_sizes(n_bags, mean_size, spread, generator)
    return sample_closest_sizes(n_bags, mean_size, math.sqrt(max(spread, 0)), generator)


def _check_targets(target: int | list[int]) -> list[int]:
    targets = [target] if isinstance(target, int) else list(target)
    if not targets or not set(targets) < set(range(10)):
        raise InputError(f"target must be one or several digits from 0 to 9, but not all, got {target}")
    return targets


def _read_idx(path: Path, dimensions: int) -> np.ndarray:
    """Read an idx file of bytes: 0, 0, 8 (the type code of bytes), the number of dimensions, their sizes, the values.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "labels"
    >>> _ = file.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 5, 7]))
    >>> _read_idx(file, 1).tolist()
    [5, 7]
    """
    content = read_content(path)
    start = 4 + 4 * dimensions
    shape = [int.from_bytes(content[index : index + 4], "big") for index in range(4, start, 4)]
    if content[:4] != bytes([0, 0, 8, dimensions]) or math.prod(shape) != len(content) - start:
        raise InputError(
            f"{path} is not an idx file of bytes with {dimensions} dimensions; "
            "fetch it again with: bagwise data fetch mnist-bags"
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
