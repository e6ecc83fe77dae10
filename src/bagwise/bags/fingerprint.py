"""A fingerprint of bags: the same for the same content, wherever it lies; it ties a checkpoint to its data."""

import hashlib
from typing import Any

import numpy as np

READ_WHOLE = 1 << 28  # bytes; of larger instances evenly spaced rows are read, so that a slide folder is not read twice
SAMPLED_ROWS = 4096


def fingerprint(bags: Any, labels: np.ndarray | None = None) -> str:
    """SHA-256 over shape, layout, labels (the bags' own, or those given) and instances.

    >>> from bagwise.bags import Bags
    >>> one, two = (Bags.from_list([[[value]]]) for value in (1.0, 2.0))
    >>> fingerprint(one) == fingerprint(two)
    False
    """
    digest = hashlib.sha256(f"{bags.instances.shape} {bags.instances.dtype} {bags.extractor}".encode())
    digest.update(bags.offsets.tobytes())
    for value in (bags.labels if labels is None else labels, bags.names, bags.groups):
        digest.update(b"-" if value is None else "\0".join(map(str, value)).encode())
    rows = bags.instances
    if rows.nbytes > READ_WHOLE:
        rows = rows[np.linspace(0, len(rows) - 1, SAMPLED_ROWS).astype(int)]
    digest.update(np.ascontiguousarray(rows).data)
    return digest.hexdigest()
