"""Scaled rows of bags for the classical methods: in groups of bounded size, or all at once if they fit into memory.

Predictions and pooled features of a bag do not depend on other bags, so they are computed for one group of bags after
the other. A method that must hold all training instances estimates its need first:

    needed memory = 3 · (number of instances) · (features per instance) · 8 bytes

These are the scaled rows as 64-bit floats, and two working copies, such as centred or squared rows.
"""

import math
from collections.abc import Iterator

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.io import get_free_memory
from bagwise.nn import Scaling
from bagwise.training import group_by_rows

VALUES_PER_GROUP = 1 << 23  # scaled values of a group: 64 MB; a larger bag is a group of its own
COPIES = 3
BYTES_PER_VALUE = 8


def scale_bags(bags: Bags, scaling: Scaling) -> Bags:
    """Return bags of scaled, flattened rows without labels, names or groups, so that no method can use them."""
    return Bags.trusted(instances=scaling.rows(bags.instances), offsets=bags.offsets)


def iterate_scaled_groups(bags: Bags, scaling: Scaling) -> Iterator[Bags]:
    """Yield consecutive groups of bags, scaled; together they are ``scale_bags``, but only one is in memory."""
    max_rows = max(1, VALUES_PER_GROUP // math.prod(bags.instance_shape))
    return (scale_bags(bags[group], scaling) for group in group_by_rows(bags.sizes, max_rows))


def check_instances_fit(bags: Bags, method: str) -> None:
    """Check that the scaled rows of all training bags fit into the available memory, with two working copies.

    Parameters
    ----------
    bags : Bags
        Training bags.
    method : str
        Name of the method, for the error message.

    Raises
    ------
    InputError
        If they do not fit.
    """
    needed, free = COPIES * BYTES_PER_VALUE * bags.n_instances * math.prod(bags.instance_shape), get_free_memory()
    if free is not None and needed > free:
        raise InputError(
            f"{method} keeps all {bags.n_instances:,} training instances in memory, which needs about "
            f"{needed / 1e9:,.1f} GB, but only {free / 1e9:,.1f} GB are available; use fewer bags or instances, a "
            "machine with more memory, or a method that reads one bag after the other (a network, or "
            "PooledClassifier: --method 'extra trees')"
        )
