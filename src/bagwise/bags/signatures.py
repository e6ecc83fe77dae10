"""Signatures of bags: short hashes of their content, by which the same bag is recognised under another name."""

import hashlib

import numpy as np

from bagwise.bags.bags import Bags

MAX_HASHED_ROWS = 16  # per bag, evenly spaced, so that a folder of slides is not read


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
