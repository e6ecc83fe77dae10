"""Key-instance metrics: how well the weights, or the instance scores, identify the instances that make a bag positive.

The metrics are computed within each bag that has both key and other instances, and then averaged over these bags.
Weights of different bags are not comparable, because they sum to one in every bag, whatever its size. The pooled
metrics, computed over the instances of all these bags at once, are meant for scores, which are comparable, and for
comparison with other work.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import entr

from bagwise.bags import Bags
from bagwise.targets import compute_auc, compute_average_precision

TOP_K = 5

Metrics = dict[str, float | int | None]


def compute_instance_metrics(bags: Bags, values: np.ndarray) -> Metrics:
    """Compute how well weights or scores rank the key instances of each bag first.

    Parameters
    ----------
    bags : Bags
        With instance labels; an instance is a key instance if its label is positive.
    values : ndarray of shape (n_instances,)
        Weights or instance scores.

    Returns
    -------
    dict
        ``auc``, ``average_precision``, ``top_1`` and ``top_k`` (share of key instances among the first and among the
        first five), each averaged over the ``n_bags`` bags with both kinds of instance; ``pooled_auc`` and
        ``pooled_average_precision`` over their instances at once. All but ``n_bags`` are None if there is no such bag.

    Raises
    ------
    ValueError
        If the bags have no instance labels.
    """
    labels = bags.instance_labels
    if labels is None:
        raise ValueError("key-instance metrics need instance labels, and these bags have none")
    parts = [
        (labels[start:end] > 0, values[start:end])
        for start, end in zip(bags.offsets[:-1], bags.offsets[1:], strict=True)
    ]
    mixed = [(is_key, bag_values) for is_key, bag_values in parts if is_key.any() and not is_key.all()]
    if not mixed:
        names = ("auc", "average_precision", "top_1", "top_k", "pooled_auc", "pooled_average_precision")
        return {**dict.fromkeys(names), "n_bags": 0}
    all_keys, all_values = (np.concatenate(arrays) for arrays in zip(*mixed, strict=True))
    return {
        "auc": _mean([compute_auc(is_key, bag_values) for is_key, bag_values in mixed]),
        "average_precision": _mean([compute_average_precision(is_key, bag_values) for is_key, bag_values in mixed]),
        "top_1": _mean([compute_top_precision(is_key, bag_values, 1) for is_key, bag_values in mixed]),
        "top_k": _mean([compute_top_precision(is_key, bag_values, TOP_K) for is_key, bag_values in mixed]),
        "pooled_auc": compute_auc(all_keys, all_values),
        "pooled_average_precision": compute_average_precision(all_keys, all_values),
        "n_bags": len(mixed),
    }


def compute_top_precision(is_key: np.ndarray, values: np.ndarray, k: int) -> float:
    """Compute the share of key instances among the k with the highest values (all of them in a smaller bag).

    Equal values share their ranks: the result is the mean over all orders of tied instances.

    >>> compute_top_precision(np.array([True, False, False]), np.array([0.5, 0.5, 0.0]), 1)
    0.5
    """
    k = min(k, len(values))
    lowest = np.partition(values, -k)[-k]
    above, tied = values > lowest, values == lowest
    return float((is_key[above].sum() + is_key[tied].mean() * (k - above.sum())) / k)


def measure_concentration(bags: Bags, weights: np.ndarray) -> Metrics:
    """Measure how evenly the weights are distributed: entropy of a bag's weights / log K, averaged over bags.

    The evenness is one for the mean operator and zero if a single instance has all the weight. Bags of one instance
    are left out.

    >>> bags = Bags.from_list([[[0.0], [1.0]], [[0.0], [1.0]], [[2.0]]])
    >>> measure_concentration(bags, np.array([0.5, 0.5, 1.0, 0.0, 1.0]))
    {'evenness': 0.5, 'n_bags': 2}
    """
    parts = np.split(np.asarray(weights, dtype=float), bags.offsets[1:-1])
    evenness = [float(entr(part).sum() / np.log(len(part))) for part in parts if len(part) > 1]
    return {"evenness": _mean(evenness) if evenness else None, "n_bags": len(evenness)}


def _mean(values: Sequence[float | None]) -> float:
    return float(np.mean(np.array(values, dtype=float)))
