"""Descriptions of key-instance metrics."""

import numpy as np

from bagwise.data.datasets.registry import load_dataset
from bagwise.evaluation.instance_metrics import compute_instance_metrics
from bagwise.targets.key_metrics import KEY_METRICS


def test_key_metrics_describe_exactly_the_computed_metrics():
    bags = load_dataset("needles", n_bags=4)
    assert KEY_METRICS.keys() == compute_instance_metrics(bags, np.zeros(bags.n_instances)).keys() - {"n_bags"}
