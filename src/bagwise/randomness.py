"""Counter-based randomness: every draw is a function of (seed, purpose, place), never of what was drawn before.

A run that is resumed, or that reads a bag in pieces, therefore draws the same numbers. The generator is Philox
(Salmon et al. 2011): a key (the seed) and a 256-bit counter, of which one word counts positions and three name the
place.
"""

import enum

import numpy as np

WORDS_A_BLOCK = 4  # Philox gives four 64-bit words for each value of its counter
LIMIT = 1 << 63


class Purpose(enum.IntEnum):
    """What a draw is for: streams of different purposes never meet."""

    SHUFFLE = 1
    DROPOUT = 2
    INITIALIZATION = 3
    FOREIGN = 4  # the generator of torch itself, for modules of others
    SPLIT = 5
    DATA = 6
    BOOTSTRAP = 7
    AUGMENTATION = 8
    SAMPLE = 9


def fresh_seed() -> int:
    """A seed from the operating system, for runs that were given none."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] % LIMIT)


def generator(seed: int, purpose: Purpose, *place: int) -> np.random.Generator:
    """A NumPy generator for one place, for draws of any kind.

    >>> first, again = (generator(5, Purpose.SHUFFLE, 3).permutation(9) for _ in range(2))
    >>> bool((first == again).all())
    True
    """
    return np.random.Generator(_philox(seed, purpose, 0, *place))


def integer(seed: int, purpose: Purpose, *place: int) -> int:
    """One seed for another library's generator."""
    return int(_philox(seed, purpose, 0, *place).random_raw() % LIMIT)


def bits(seed: int, purpose: Purpose, place: tuple[int, ...], first_row: int, shape: tuple[int, int]) -> np.ndarray:
    """A (rows, columns) array of 32-bit numbers; row r is the same whichever row the array starts with.

    >>> whole = bits(5, Purpose.DROPOUT, (0, 0), 0, (10, 3))
    >>> bool((whole[4:6] == bits(5, Purpose.DROPOUT, (0, 0), 4, (2, 3))).all())
    True
    """
    rows, columns = shape
    blocks = -(-columns // (2 * WORDS_A_BLOCK))  # whole blocks a row, so that every row starts on its own counter
    words = _philox(seed, purpose, first_row * blocks, *place).random_raw(rows * blocks * WORDS_A_BLOCK)
    return words.view(np.uint32).reshape(rows, blocks * 2 * WORDS_A_BLOCK)[:, :columns]


def _philox(
    seed: int, purpose: Purpose, position: int, first: int = 0, second: int = 0, third: int = 0
) -> np.random.Philox:
    counter = np.array([position, first, second, third], dtype=np.uint64)
    return np.random.Philox(key=np.array([seed % (1 << 64), purpose], dtype=np.uint64), counter=counter)
