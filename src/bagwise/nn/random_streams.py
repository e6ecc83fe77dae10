"""Counter-based random numbers: each is a function of (seed, purpose, position) and independent of earlier samples.

Therefore a resumed run, or a run that processes a bag in pieces, samples the same numbers. The generator is Philox
(Salmon et al. 2011). Its key consists of the seed and the purpose. Of the four 64-bit words of its counter, one counts
blocks of samples and three contain the position.
"""

import enum

import numpy as np

SEED_LIMIT = 1 << 63  # exclusive upper bound of seeds

WORDS_PER_BLOCK = 4  # Philox returns four 64-bit words per value of its counter


class Purpose(enum.IntEnum):
    """Purpose of a random stream; streams of different purposes are independent.

    The values are part of the random streams: changing one changes all results that depend on it.
    """

    SHUFFLE = 1
    DROPOUT = 2
    INITIALIZATION = 3
    TORCH = 4  # seeds torch's own generator, for third-party modules
    SPLIT = 5
    DATA = 6
    BOOTSTRAP = 7
    AUGMENTATION = 8
    SAMPLE = 9
    MEMBER = 10  # seeds of the networks of one estimator


def make_seed() -> int:
    """Return a random seed from the entropy of the operating system, for runs without a given seed.

    Returns
    -------
    int
        Seed of at least 0 and below ``SEED_LIMIT``.
    """
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] % SEED_LIMIT)


def make_generator(seed: int, purpose: Purpose, *position: int) -> np.random.Generator:
    """Return the NumPy generator for one position of a random stream.

    Parameters
    ----------
    seed : int
        Seed of the run.
    purpose : Purpose
        Purpose of the stream.
    *position : int
        Up to three non-negative integers; missing ones are zero.

    Returns
    -------
    numpy.random.Generator
        Generator that returns the same numbers for the same arguments.

    Examples
    --------
    >>> first, again = (make_generator(5, Purpose.SHUFFLE, 3).permutation(9) for _ in range(2))
    >>> bool((first == again).all())
    True
    """
    return np.random.Generator(_make_philox(seed, purpose, 0, *position))


def random_integer(seed: int, purpose: Purpose, *position: int) -> int:
    """Sample one integer, for example to seed the generator of another library.

    Parameters
    ----------
    seed : int
        Seed of the run.
    purpose : Purpose
        Purpose of the stream.
    *position : int
        Up to three non-negative integers; missing ones are zero.

    Returns
    -------
    int
        Integer of at least 0 and below ``SEED_LIMIT``.
    """
    return int(_make_philox(seed, purpose, 0, *position).random_raw() % SEED_LIMIT)


def random_bits(
    seed: int, purpose: Purpose, position: tuple[int, ...], first_row: int, shape: tuple[int, int]
) -> np.ndarray:
    """Sample a (rows, columns) array of 32-bit integers; a row does not depend on the first row of the array.

    >>> whole = random_bits(5, Purpose.DROPOUT, (0, 0), 0, (10, 3))
    >>> bool((whole[4:6] == random_bits(5, Purpose.DROPOUT, (0, 0), 4, (2, 3))).all())
    True
    """
    rows, columns = shape
    blocks = -(-columns // (2 * WORDS_PER_BLOCK))  # whole blocks, so that every row starts at its own counter value
    words = _make_philox(seed, purpose, first_row * blocks, *position).random_raw(rows * blocks * WORDS_PER_BLOCK)
    return words.view(np.uint32).reshape(rows, blocks * 2 * WORDS_PER_BLOCK)[:, :columns]


def _make_philox(
    seed: int, purpose: Purpose, block: int, first: int = 0, second: int = 0, third: int = 0
) -> np.random.Philox:
    counter = np.array([block, first, second, third], dtype=np.uint64)
    return np.random.Philox(key=np.array([seed % (1 << 64), purpose], dtype=np.uint64), counter=counter)
