"""Damage for tests of readers: a function of its seed alone, so that a failure can be shown again."""

import numpy as np

HEAD, TAIL = 200, 2000  # where images and slides keep what they say of themselves


def damaged(content, seed):
    """Bytes with one to six of them changed, two thirds of these at the start or the end; every third time cut off."""
    generator = np.random.default_rng(seed)
    changed = bytearray(content)
    for _ in range(generator.integers(1, 7)):
        reach = [len(changed), min(HEAD, len(changed)), min(TAIL, len(changed))]
        part = generator.integers(0, 3)
        place = generator.integers(0, reach[part])
        changed[-1 - place if part == 2 else place] = generator.integers(0, 256)
    return bytes(changed[: generator.integers(1, len(changed))] if generator.random() < 1 / 3 else changed)
