import numpy as np

from bagwise.datasets import load_dataset
from bagwise.evaluation import bag_metrics, instance_metrics
from bagwise.metric_names import KEY_METRICS, METRICS


def test_every_metric_has_its_words_and_none_is_left_over():
    computed = bag_metrics(np.array([0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    assert METRICS.keys() == computed.keys()
    bags = load_dataset("needles", n_bags=4)
    assert KEY_METRICS.keys() == instance_metrics(bags, np.zeros(bags.n_instances)).keys() - {"n_bags"}
