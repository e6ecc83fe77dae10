import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.evaluation.instance_metrics import compute_instance_metrics, compute_top_precision, measure_concentration


def make_bags(instance_labels, sizes):
    return Bags(
        np.zeros((len(instance_labels), 1)),
        np.concatenate([[0], np.cumsum(sizes)]),
        instance_labels=np.array(instance_labels),
    )


def test_compute_instance_metrics_averages_over_bags_with_both_kinds_of_instance():
    """One bag ranked correctly, one ranked wrongly, one without key instances, one with key instances only."""
    metrics = compute_instance_metrics(
        make_bags([1, 0, 0, 1, 0, 0, 1, 1], [2, 2, 2, 2]), np.array([0.9, 0.1, 0.9, 0.1, 0.5, 0.5, 0.3, 0.7])
    )
    assert {name: metrics[name] for name in ("auc", "average_precision", "top_1", "n_bags")} == {
        "auc": 0.5,
        "average_precision": 0.75,
        "top_1": 0.5,
        "n_bags": 2,
    }
    assert metrics["pooled_auc"] == 0.5


def test_compute_instance_metrics_does_not_compare_bags_of_different_sizes():
    """Weights are smaller in a large bag; within each bag the ranking is perfect."""
    labels = [1, 0, *([1] + [0] * 99)]
    weights = np.array([0.9, 0.1, *([0.05] + [0.95 / 99] * 99)])
    assert compute_instance_metrics(make_bags(labels, [2, 100]), weights)["auc"] == 1.0


def test_compute_instance_metrics_shares_ranks_between_equal_values():
    assert compute_instance_metrics(make_bags([1, 0, 0, 0], [4]), np.full(4, 0.25)) == {
        "auc": 0.5,
        "average_precision": 0.25,
        "top_1": 0.25,
        "top_k": 0.25,
        "pooled_auc": 0.5,
        "pooled_average_precision": 0.25,
        "n_bags": 1,
    }


def test_compute_instance_metrics_pools_the_instances_of_all_bags():
    """Within each bag the ranking is perfect; between bags it is not."""
    metrics = compute_instance_metrics(make_bags([1, 0, 1, 0], [2, 2]), np.array([0.9, 0.8, 0.2, 0.1]))
    assert (metrics["auc"], metrics["pooled_auc"]) == (1.0, 0.75)


def test_compute_instance_metrics_is_none_without_bags_of_both_kinds():
    metrics = compute_instance_metrics(make_bags([0, 0], [2]), np.array([0.4, 0.6]))
    assert metrics.pop("n_bags") == 0
    assert set(metrics.values()) == {None}


def test_compute_instance_metrics_rejects_bags_without_instance_labels():
    with pytest.raises(ValueError, match="need instance labels"):
        compute_instance_metrics(Bags(np.zeros((1, 1)), np.array([0, 1])), np.ones(1))


@pytest.mark.parametrize("k", [1, 2, 3, 5, 40])
def test_compute_top_precision_is_the_mean_over_all_orders_of_equal_values(k):
    generator = np.random.default_rng(k)
    is_key, values = generator.random(12) < 0.4, generator.integers(0, 4, 12).astype(float)
    precisions = []
    for _ in range(4000):
        order = np.lexsort([generator.random(12), -values])
        precisions.append(is_key[order[:k]].mean())
    assert compute_top_precision(is_key, values, k) == pytest.approx(np.mean(precisions), abs=0.02)


def test_measure_concentration_is_one_for_the_mean_and_zero_for_a_single_instance():
    bags = make_bags([0] * 9, [4, 4, 1])
    even, single = np.full(4, 0.25), np.array([0.0, 1.0, 0.0, 0.0])
    assert measure_concentration(bags, np.array([*even, *even, 1.0]))["evenness"] == pytest.approx(1)
    assert measure_concentration(bags, np.array([*single, *single, 1.0]))["evenness"] == 0
    skewed = np.array([0.7, 0.1, 0.1, 0.1])
    evenness = -sum(weight * np.log(weight) for weight in skewed) / np.log(4)
    expected = pytest.approx((1 + evenness) / 2)
    assert measure_concentration(bags, np.array([*even, *skewed, 1.0]))["evenness"] == expected


def test_measure_concentration_leaves_out_bags_of_one_instance():
    assert measure_concentration(make_bags([0, 1], [1, 1]), np.ones(2)) == {"evenness": None, "n_bags": 0}
