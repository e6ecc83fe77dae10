"""Hashes of the content of bags, wherever it is stored.

A fingerprint ties a checkpoint to its data. A signature of each bag recognises the same bag under another name.
"""

import hashlib
from typing import Any

import numpy as np

from bagwise.bags.bags import Bags

MAX_BYTES = 1 << 28  # of larger instances only some rows are read, so that a folder of slides is not read twice
N_SAMPLED_ROWS = 4096
BLOCK_BYTES = 1 << 22
MAX_HASHED_ROWS = 16  # per bag in a signature, so that a folder of slides is not read


def fingerprint_bags(bags: Bags, labels: np.ndarray | None = None) -> str:
    """Compute the SHA-256 of the instances, feature names, extractor, offsets, labels, names and groups of bags.

    If the instances are larger than 256 MB, only 4096 evenly spaced rows are read.

    Parameters
    ----------
    bags : Bags
        Bags to hash.
    labels : numpy.ndarray of shape (n_bags,) or (n_bags, k), or None, default=None
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
    labels = bags.labels if labels is None else labels
    if bags.label_names is not None:
        digest.update("\0".join(bags.label_names).encode())
    for value in (_list_rows(labels), bags.names, bags.groups):
        digest.update(b"-" if value is None else "\0".join(map(str, value)).encode())
    if bags.nbytes > MAX_BYTES:
        sampled = np.linspace(0, len(view) - 1, N_SAMPLED_ROWS).astype(int)
        digest.update(np.ascontiguousarray(view[sampled]).data)
        return digest.hexdigest()
    for rows in bags.iterate_blocks(max(1, BLOCK_BYTES * len(view) // max(bags.nbytes, 1))):
        digest.update(np.ascontiguousarray(rows).data)
    return digest.hexdigest()


def _list_rows(labels: np.ndarray | None) -> Any:
    """Return several labels per bag, or times and events, as Python values, whose text has all digits."""
    return labels if labels is None or (labels.ndim == 1 and labels.dtype.names is None) else labels.tolist()


def compute_signatures(bags: Bags) -> np.ndarray:
    """Compute a 64-bit hash of the size and of at most 16 evenly spaced instances of each bag.

    Values are compared as float64, so a signature does not depend on the data type or on the other bags.

    Parameters
    ----------
    bags : Bags
        Bags to hash.

    Returns
    -------
    ndarray of uint64, of shape (n_bags,)

    Examples
    --------
    >>> bags = Bags.from_list([[[1.0], [2.0]], [[2.0], [1.0]], [[1], [2]]])
    >>> signatures = compute_signatures(bags)
    >>> bool(signatures[0] == signatures[2]), bool(signatures[0] == signatures[1])
    (True, False)
    """
    return np.array([_hash_bag(instances) for instances in bags], dtype=np.uint64)


def _hash_bag(instances: np.ndarray) -> int:
    rows = np.linspace(0, len(instances) - 1, min(len(instances), MAX_HASHED_ROWS)).astype(int)
    values = np.ascontiguousarray(instances[rows], dtype=np.float64) + 0.0  # −0.0 becomes 0.0
    digest = hashlib.blake2b(f"{instances.shape}".encode(), digest_size=8)
    digest.update(values.data)
    return int.from_bytes(digest.digest(), "little")
