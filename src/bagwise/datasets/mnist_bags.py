"""MNIST-bags (Ilse et al. 2018, section 4.2): bags of handwritten digits, positive if they hold a target (a nine).

Training bags are drawn from the 60,000 training images, test bags from the 10,000 test images. The paper's text and its
authors' loader differ in how long a bag is, for a mean of 10, 50, 100 and a spread s of 2, 10, 20:

    "authors"   int(normal(mean, s)): s is a standard deviation, the fraction is cut off (what the paper's numbers used)
    "text"      the closest whole number to normal(mean, √s): s is a variance
"""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.datasets.drawing import Drawn, check_room, closest_sizes, draw_balanced, draw_random, truncated_sizes
from bagwise.datasets.home import locate
from bagwise.datasets.wrappers import content
from bagwise.errors import InputError
from bagwise.names import choose
from bagwise.randomness import Purpose

SPLITS = ("train", "test")
BAGS = {"train": 200, "test": 1000}
FILES = {"train": "train", "test": "t10k"}
SPREADS = {10: 2.0, 50: 10.0, 100: 20.0}  # the paper's; for another mean a fifth of it
SAMPLINGS: dict[str, Callable[..., Drawn]] = {"balanced": draw_balanced, "random": draw_random}
LENGTHS = ("authors", "text")


def load(
    split: str = "train",
    n_bags: int | None = None,
    mean_size: float = 10,
    spread: float | None = None,
    target: int | list[int] = 9,
    seed: int = 0,
    sampling: str = "balanced",
    lengths: str = "authors",
) -> Bags:
    """Bags of 28×28 images as bytes, with instance labels (1 for a target) for evaluation only.

    ``sampling`` is "balanced" (the paper's: positive and negative in turn) or "random" (plain draws, so that most large
    bags are positive); ``lengths`` is "authors" or "text". Unless given, 200 bags for training and 1,000 for testing.
    """
    if split not in SPLITS:
        raise InputError(f"mnist-bags has no split '{split}'; choose one of: {', '.join(SPLITS)}")
    draw = choose(sampling, SAMPLINGS, "sampling")
    choose(lengths, dict.fromkeys(LENGTHS, True), "lengths")
    images, digits = pool(split)
    is_target = np.isin(digits, _targets(target))
    n_bags = BAGS[split] if n_bags is None else n_bags
    spread = SPREADS.get(mean_size, 0.2 * mean_size) if spread is None else spread  # type: ignore[call-overload]
    check_room(n_bags, mean_size, spread, images[0].nbytes)
    generator = randomness.generator(seed, Purpose.DATA, SPLITS.index(split))
    sizes = _sizes(n_bags, mean_size, spread, lengths, generator)
    drawn = draw(is_target, sizes, generator)
    return Bags(
        images[drawn.rows],
        drawn.offsets,
        labels=drawn.labels,
        names=np.array([f"{split}-{number:04d}" for number in range(len(sizes))]),
        instance_labels=is_target[drawn.rows].astype(int),
    )


def pool(split: str) -> tuple[np.ndarray, np.ndarray]:
    """All images of a part, (n, 28, 28), and their digits."""
    files = locate("mnist-bags")
    images = _read_idx(files[f"mnist/{FILES[split]}-images-idx3-ubyte"], 3)
    digits = _read_idx(files[f"mnist/{FILES[split]}-labels-idx1-ubyte"], 1)
    if len(images) != len(digits):
        raise InputError(f"MNIST has {len(images)} images and {len(digits)} labels; fetch mnist-bags again")
    return images, digits


def _sizes(n_bags: int, mean_size: float, spread: float, lengths: str, generator: np.random.Generator) -> np.ndarray:
    if lengths.lower() == "authors":
        return truncated_sizes(n_bags, mean_size, spread, generator)
    return closest_sizes(n_bags, mean_size, math.sqrt(max(spread, 0)), generator)


def _targets(target: int | list[int]) -> list[int]:
    targets = [target] if isinstance(target, int) else list(target)
    if not targets or not set(targets) < set(range(10)):
        raise InputError(f"target is {target}; choose one or several digits from 0 to 9, but not all")
    return targets


def _read_idx(path: Path, dimensions: int) -> np.ndarray:
    """An idx file of bytes: two zeros, 8 (for bytes), the number of dimensions, each of them, then the values.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "labels"
    >>> _ = file.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 5, 7]))
    >>> _read_idx(file, 1).tolist()
    [5, 7]
    """
    raw = content(path)
    start = 4 + 4 * dimensions
    shape = [int.from_bytes(raw[place : place + 4], "big") for place in range(4, start, 4)]
    if raw[:4] != bytes([0, 0, 8, dimensions]) or math.prod(shape) != len(raw) - start:
        raise InputError(f"{path} is not an idx file of bytes in {dimensions} dimensions; fetch mnist-bags again")
    return np.frombuffer(raw, np.uint8, offset=start).reshape(shape)
