"""Key-instance metrics: do the weights point at the instances that made the bag positive?

They are taken within each bag that holds both kinds of instance, then averaged over bags: weights of different bags
are not comparable, because they sum to one in a small bag and in a large one.
"""

import numpy as np

from bagwise.bags import Bags
from bagwise.evaluation.bag_metrics import auc, average_precision


def instance_metrics(bags: Bags, values: np.ndarray) -> dict[str, float | int | None]:
    """Mean AUC, mean average precision and the share of bags whose highest value is a key instance (top-1).

    ``values`` are weights or instance scores, (n_instances,); instance labels count as key where they are positive.
    """
    if bags.instance_labels is None:
        raise ValueError("bags have no instance labels to compare with")
    aucs, precisions, tops = [], [], []
    for start, end in zip(bags.offsets[:-1], bags.offsets[1:], strict=True):
        key = bags.instance_labels[start:end] > 0
        if not key.any() or key.all():
            continue
        own = values[start:end]
        aucs.append(auc(key, own))
        precisions.append(average_precision(key, own))
        tops.append(key[own == own.max()].mean())  # ties share the first place
    if not aucs:
        return {"auc": None, "average_precision": None, "top_1": None, "n_bags": 0}
    return {
        "auc": float(np.mean(np.array(aucs, dtype=float))),
        "average_precision": float(np.mean(np.array(precisions, dtype=float))),
        "top_1": float(np.mean(tops)),
        "n_bags": len(aucs),
    }
