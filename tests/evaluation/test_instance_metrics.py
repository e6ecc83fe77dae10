import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.evaluation import instance_metrics
from bagwise.evaluation.instance_metrics import sharing, top_precision


def bags(labels, sizes):
    return Bags(np.zeros((len(labels), 1)), np.concatenate([[0], np.cumsum(sizes)]), instance_labels=np.array(labels))


def test_metrics_are_means_over_bags_that_hold_both_kinds():
    """One bag ranked right, one ranked wrong, one without key instances, one of key instances alone."""
    found = instance_metrics(
        bags([1, 0, 0, 1, 0, 0, 1, 1], [2, 2, 2, 2]), np.array([0.9, 0.1, 0.9, 0.1, 0.5, 0.5, 0.3, 0.7])
    )
    assert {name: found[name] for name in ("auc", "average_precision", "top_1", "n_bags")} == {
        "auc": 0.5,
        "average_precision": 0.75,
        "top_1": 0.5,
        "n_bags": 2,
    }
    assert found["pooled_auc"] == 0.5


def test_bags_of_different_sizes_are_not_compared():
    """Weights are smaller in a large bag; within each bag the order is perfect."""
    labels = [1, 0, *([1] + [0] * 99)]
    weights = np.array([0.9, 0.1, *([0.05] + [0.95 / 99] * 99)])
    assert instance_metrics(bags(labels, [2, 100]), weights)["auc"] == 1.0


def test_ties_share_the_first_place():
    assert instance_metrics(bags([1, 0, 0, 0], [4]), np.full(4, 0.25)) == {
        "auc": 0.5,
        "average_precision": 0.25,
        "top_1": 0.25,
        "top_k": 0.25,
        "pooled_auc": 0.5,
        "pooled_average_precision": 0.25,
        "n_bags": 1,
    }


@pytest.mark.parametrize("k", [1, 2, 3, 5, 40])
def test_top_precision_is_the_mean_over_every_order_of_equal_values(k):
    draws = np.random.default_rng(k)
    key, values = draws.random(12) < 0.4, draws.integers(0, 4, 12).astype(float)
    counted = []
    for _ in range(4000):
        order = np.lexsort([draws.random(12), -values])
        counted.append(key[order[:k]].mean())
    assert top_precision(key, values, k) == pytest.approx(np.mean(counted), abs=0.02)


def test_pooled_metrics_compare_instances_of_all_bags():
    """Within each bag the order is perfect; between them it is not."""
    found = instance_metrics(bags([1, 0, 1, 0], [2, 2]), np.array([0.9, 0.8, 0.2, 0.1]))
    assert (found["auc"], found["pooled_auc"]) == (1.0, 0.75)


def test_without_such_bags_or_labels_nothing_is_claimed():
    assert instance_metrics(bags([0, 0], [2]), np.array([0.4, 0.6]))["auc"] is None
    with pytest.raises(ValueError, match="no instance labels"):
        instance_metrics(Bags(np.zeros((1, 1)), np.array([0, 1])), np.ones(1))


def test_sharing_is_one_for_the_mean_and_zero_for_a_single_instance():
    three = bags([0] * 9, [4, 4, 1])
    even, single = np.full(4, 0.25), np.array([0.0, 1.0, 0.0, 0.0])
    assert sharing(three, np.array([*even, *even, 1.0]))["evenness"] == pytest.approx(1)
    assert sharing(three, np.array([*single, *single, 1.0]))["evenness"] == 0
    skewed = np.array([0.7, 0.1, 0.1, 0.1])
    expected = -sum(a * np.log(a) for a in skewed) / np.log(4)
    assert sharing(three, np.array([*even, *skewed, 1.0]))["evenness"] == pytest.approx((1 + expected) / 2)


def test_bags_of_one_instance_say_nothing_of_sharing():
    assert sharing(bags([0, 1], [1, 1]), np.ones(2)) == {"evenness": None, "n_bags": 0}
