"""Key-instance metrics: do the weights, or the scores, point at the instances that made the bag positive?

They are taken within each bag that holds both kinds of instance, then averaged over bags: weights of different bags
are not comparable, because they sum to one in a small bag and in a large one. The pooled ones, over all instances of
those bags at once, stand beside for scores, which are comparable, and for comparison with other work.
"""

import numpy as np
from scipy.special import entr

from bagwise.bags import Bags
from bagwise.evaluation.bag_metrics import auc, average_precision

K = 5

Values = dict[str, float | int | None]


def instance_metrics(bags: Bags, values: np.ndarray) -> Values:
    """Mean over bags of AUC, average precision, and the share of key instances among the first one and the first five.

    ``values`` are weights or instance scores, (n_instances,); instance labels count as key where they are positive.
    """
    if bags.instance_labels is None:
        raise ValueError("bags have no instance labels to compare with")
    parts = [
        (bags.instance_labels[start:end] > 0, values[start:end])
        for start, end in zip(bags.offsets[:-1], bags.offsets[1:], strict=True)
    ]
    mixed = [(key, own) for key, own in parts if key.any() and not key.all()]
    if not mixed:
        names = ("auc", "average_precision", "top_1", "top_k", "pooled_auc", "pooled_average_precision")
        return {**dict.fromkeys(names), "n_bags": 0}
    keys, owns = (np.concatenate(each) for each in zip(*mixed, strict=True))
    return {
        "auc": _mean([auc(key, own) for key, own in mixed]),
        "average_precision": _mean([average_precision(key, own) for key, own in mixed]),
        "top_1": _mean([top_precision(key, own, 1) for key, own in mixed]),
        "top_k": _mean([top_precision(key, own, K) for key, own in mixed]),
        "pooled_auc": auc(keys, owns),
        "pooled_average_precision": average_precision(keys, owns),
        "n_bags": len(mixed),
    }


def sharing(bags: Bags, weights: np.ndarray) -> Values:
    """How evenly instances share in the decision: entropy of a bag's weights / log K, mean over bags.

    One is the mean operator, zero a single instance; bags of one instance say nothing.

    >>> bags = Bags.from_list([[[0.0], [1.0]], [[0.0], [1.0]], [[2.0]]])
    >>> sharing(bags, np.array([0.5, 0.5, 1.0, 0.0, 1.0]))
    {'evenness': 0.5, 'n_bags': 2}
    """
    parts = [own for own in np.split(np.asarray(weights, dtype=float), bags.offsets[1:-1]) if len(own) > 1]
    found = [float(entr(own).sum() / np.log(len(own))) for own in parts]
    return {"evenness": _mean(list(found)) if found else None, "n_bags": len(found)}


def top_precision(key: np.ndarray, values: np.ndarray, k: int) -> float:
    """The share of key instances among the k highest (all, if there are fewer); equal values share their places.

    >>> top_precision(np.array([True, False, False]), np.array([0.5, 0.5, 0.0]), 1)
    0.5
    """
    k = min(k, len(values))
    last = np.partition(values, -k)[-k]
    above, level = values > last, values == last
    return float((key[above].sum() + key[level].mean() * (k - above.sum())) / k)


def _mean(values: list[float | None]) -> float:
    return float(np.mean(np.array(values, dtype=float)))
