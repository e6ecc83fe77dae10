"""Fingerprints of bags: hashes of the content, wherever it is stored, which tie a checkpoint to its data."""

import hashlib

import numpy as np

from bagwise.bags.bags import Bags

MAX_BYTES = 1 << 28  # of larger instances only some rows are read, so that a folder of slides is not read twice
N_SAMPLED_ROWS = 4096
BLOCK_BYTES = 1 << 22


def fingerprint_bags(bags: Bags, labels: np.ndarray | None = None) -> str:
    """Compute the SHA-256 of the instances, feature names, extractor, offsets, labels, names and groups of bags.

    If the instances are larger than 256 MB, only 4096 evenly spaced rows are read.

    Parameters
    ----------
    bags : Bags
        Bags to hash.
    labels : numpy.ndarray of shape (n_bags,) or None, default=None
        Labels to use instead of ``bags.labels``; None uses ``bags.labels``.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> first, second = (Bags.from_list([[[value]]]) for value in (1.0, 2.0))
    >>> fingerprint_bags(first) == fingerprint_bags(second)
    False
    """
    view = bags.view()
    digest = hashlib.sha256(f"{view.shape} {view.dtype} {bags.extractor}".encode())
    if bags.feature_names is not None:
        digest.update("\0".join(bags.feature_names).encode())
    digest.update(bags.offsets.tobytes())
    for value in (bags.labels if labels is None else labels, bags.names, bags.groups):
        digest.update(b"-" if value is None else "\0".join(map(str, value)).encode())
    if bags.nbytes > MAX_BYTES:
        sampled = np.linspace(0, len(view) - 1, N_SAMPLED_ROWS).astype(int)
        digest.update(np.ascontiguousarray(view[sampled]).data)
        return digest.hexdigest()
    for rows in bags.iterate_blocks(max(1, BLOCK_BYTES * len(view) // max(bags.nbytes, 1))):
        digest.update(np.ascontiguousarray(rows).data)
    return digest.hexdigest()
