"""Metrics of key instances: how well weights or scores rank the instances of a bag, where the key ones are known."""

from typing import NamedTuple


class KeyMetric(NamedTuple):
    """A metric of the ranking of instances.

    Attributes
    ----------
    title : str
        Title in tables.
    meaning : str
        One phrase that explains it.
    """

    title: str
    meaning: str


KEY_METRICS = {
    "auc": KeyMetric("AUC", "probability that a key instance is ranked above another instance of its bag"),
    "average_precision": KeyMetric("Average precision", "of the ranking of instances within a bag"),
    "top_1": KeyMetric("Top-1", "share of bags whose top-ranked instance is a key instance"),
    "top_k": KeyMetric("Top-5", "share of key instances among the five top-ranked instances of a bag"),
    "pooled_auc": KeyMetric(
        "Pooled AUC", "over the instances of all bags at once; weights of different bags are not comparable"
    ),
    "pooled_average_precision": KeyMetric("Pooled average precision", "over the instances of all bags at once"),
}
