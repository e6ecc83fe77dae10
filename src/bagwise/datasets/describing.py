"""Bags in numbers: what a person wants to know of a data set before training on it."""

from typing import Any

import numpy as np

from bagwise.bags import Bags


def describe(bags: Bags) -> dict[str, Any]:
    """Counts of bags, instances, classes and groups, and how large bags are.

    >>> describe(Bags.from_list([[[1.0]], [[2.0], [3.0]]], labels=[0, 1]))["labels"]
    {'0': 1, '1': 1}
    """
    sizes = bags.sizes
    return {
        "n_bags": bags.n_bags,
        "labels": _counts(bags.labels),
        "n_instances": bags.n_instances,
        "instance_shape": list(bags.instance_shape),
        "instance_type": str(bags.instances.dtype),
        "instance_labels": _counts(bags.instance_labels),
        "bag_sizes": {
            "min": int(sizes.min()),
            "median": float(np.median(sizes)),
            "mean": float(sizes.mean()),
            "max": int(sizes.max()),
        },
        "n_groups": None if bags.groups is None else len(np.unique(bags.groups)),
        "megabytes": round(bags.instances.nbytes / 1e6, 1),
    }


def _counts(values: np.ndarray | None) -> dict[str, int] | None:
    if values is None:
        return None
    unique, counts = np.unique(values, return_counts=True)
    return {str(value): int(count) for value, count in zip(unique, counts, strict=True)}
