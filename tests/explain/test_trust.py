import numpy as np
import pytest

from bagwise.explain.trust import assess_trust, compute_effective_number, make_overview_rows
from bagwise.runs.execution import execute_run

RNG = np.random.default_rng(2)


def assess_bag(weights, spread=None):
    return assess_trust(np.array(weights), np.array([0, len(weights)]), spread)


def test_compute_effective_number_is_the_exponential_of_the_entropy():
    parts = [RNG.dirichlet(np.ones(size)) for size in (3, 1, 8)]
    expected = [np.exp(-sum(a * np.log(a) for a in part)) for part in parts]
    found = compute_effective_number(np.concatenate(parts), np.array([0, 3, 4, 12]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("n_nonzero", [1, 3, 7])
def test_compute_effective_number_counts_instances_with_equal_nonzero_weights(n_nonzero):
    weights = np.r_[np.full(n_nonzero, 1 / n_nonzero), np.zeros(5)]
    np.testing.assert_allclose(compute_effective_number(weights, np.array([0, n_nonzero + 5])), n_nonzero, rtol=1e-12)


def test_compute_effective_number_of_float32_weights_is_between_one_and_the_bag_size():
    sizes = RNG.integers(1, 4000, size=40)
    weights = np.concatenate([np.full(size, 1 / size, dtype=np.float32) for size in sizes])
    found = compute_effective_number(weights, np.r_[0, sizes.cumsum()])
    assert (found <= sizes).all()
    assert (found >= 1).all()
    np.testing.assert_allclose(found, sizes, rtol=1e-12)


def test_assess_trust_returns_the_largest_weight_of_each_bag():
    found = assess_trust(np.array([0.2, 0.8, 1.0, 0.5, 0.5]), np.array([0, 2, 3, 5]))
    np.testing.assert_array_equal(found.top_weight, [0.8, 1.0, 0.5])
    assert found.warnings == [[], [], []]


def test_assess_trust_warns_about_collapsed_weights():
    (found,) = assess_bag(np.r_[0.995, np.full(119, 0.005 / 119)]).warnings
    assert found == [
        "the weights have collapsed onto one of 120 instances: the prediction depends on this instance alone"
    ]
    assert assess_bag(np.r_[0.98, np.full(119, 0.02 / 119)]).warnings == [[]]


def test_assess_trust_warns_about_flat_weights():
    (found,) = assess_bag(np.full(40, 1 / 40)).warnings
    assert found == [
        "the weights are flat: the effective number of instances is 40.0 of 40, "
        "so the weights do not identify key instances"
    ]
    assert assess_bag(np.r_[np.full(30, 1 / 30), np.zeros(10)]).warnings == [[]]


@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.5], [1.0, 0.0, 0.0, 0.0]])
def test_assess_trust_does_not_warn_about_small_bags(weights):
    assert assess_bag(weights).warnings == [[]]


def test_assess_trust_warns_if_models_disagree():
    members = np.eye(5)  # each model gives all its weight to a different instance
    (found,) = assess_bag(members.mean(axis=0) + [0.2, 0, 0, 0, -0.2], members.std(axis=0)).warnings
    assert found == [
        "the models disagree about the weights: the standard deviations sum to 200% of the total weight, "
        "so another model may weight other instances"
    ]
    assert assess_bag([0.6, 0.2, 0.1, 0.1, 0.0], np.full(5, 0.05)).warnings == [[]]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    data = {"data": "needles", "options": {"n_bags": 30}, "test": None, "split_seed": 1}
    parameters = {"pooling": "mean", "epochs": 1, "random_state": 1, "engine": "torch"}
    return execute_run(tmp_path_factory.mktemp("runs") / "run", {"data": data, "parameters": parameters})


def test_make_overview_rows_has_one_row_per_test_bag_with_prediction_and_trust(run):
    rows = make_overview_rows(run)
    assert [row["bag"] for row in rows] == [row["bag"] for row in run.predictions]
    assert all(
        row["probability 1"] == prediction["probability 1"]
        for row, prediction in zip(rows, run.predictions, strict=True)
    )
    found = np.array([float(row["effective_number"]) for row in rows])
    np.testing.assert_allclose(found, compute_effective_number(run.weights, run.offsets))
    assert all("flat" in row["warnings"] for row in rows if int(row["n_instances"]) >= 5)
