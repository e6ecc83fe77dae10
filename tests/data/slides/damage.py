"""Damaged bytes for tests of readers, as a function of the seed, so that failures can be reproduced."""

import numpy as np

HEAD, TAIL = 200, 2000  # bytes where images and slides store their metadata


def damaged(content, seed):
    """Change one to six bytes, two thirds of them near the start or the end, and truncate in a third of the cases."""
    generator = np.random.default_rng(seed)
    changed = bytearray(content)
    for _ in range(generator.integers(1, 7)):
        reach = [len(changed), min(HEAD, len(changed)), min(TAIL, len(changed))]
        part = generator.integers(0, 3)
        offset = generator.integers(0, reach[part])
        changed[-1 - offset if part == 2 else offset] = generator.integers(0, 256)
    return bytes(changed[: generator.integers(1, len(changed))] if generator.random() < 1 / 3 else changed)
