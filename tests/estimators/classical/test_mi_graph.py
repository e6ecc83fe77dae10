import numpy as np
import pytest
from sklearn.svm import SVC

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical import kernel_machine
from bagwise.estimators.classical.bag_kernels import compute_gram_matrix
from bagwise.estimators.classical.mi_graph import MiGraph, SupportGraphs, count_neighbours

GENERATOR = np.random.default_rng(0)
BAGS = Bags.from_list([GENERATOR.normal(size=(size, 3)) for size in (1, 4, 2, 6, 3, 5)])
LABELS = np.array([0, 1, 0, 1, 0, 1])
FINE = 1e-11  # tolerance of both solvers, so that their results can be compared


@pytest.fixture(autouse=True)
def fine_solver(monkeypatch):
    monkeypatch.setattr(kernel_machine, "TOLERANCE", FINE)


def compute_graph_kernel(X, Y, gamma):
    """Compute the equation of the article, with its affinity matrices, with loops."""

    def compute_weights(bag):
        distances = [[np.linalg.norm(a - u) for u in bag] for a in bag]
        threshold = np.mean(distances)
        affinity = [[1 if distance <= threshold else 0 for distance in row] for row in distances]
        return [1 / sum(row) for row in affinity]

    V, W = compute_weights(X), compute_weights(Y)
    total = 0.0
    for a, x in enumerate(X):
        for b, y in enumerate(Y):
            total += V[a] * W[b] * np.exp(-gamma * np.linalg.norm(x - y) ** 2)
    return total / (sum(V) * sum(W))


def compute_graph_kernels(left, right, gamma):
    return np.array([[compute_graph_kernel(X, Y, gamma) for Y in right] for X in left])


def compute_kernel(bags, gamma):
    return compute_gram_matrix(bags, SupportGraphs.masses(bags, gamma), gamma)


def test_kernel_equals_the_equation_of_the_article():
    np.testing.assert_allclose(compute_kernel(BAGS, 0.3), compute_graph_kernels(BAGS, BAGS, 0.3), rtol=1e-12)


def test_kernel_is_symmetric_and_positive_semidefinite():
    kernel = compute_kernel(BAGS, 0.05)
    np.testing.assert_allclose(kernel, kernel.T, rtol=1e-13)
    assert np.linalg.eigvalsh(kernel).min() >= -1e-10


def test_masses_of_a_cluster_sum_to_the_mass_of_one_instance():
    rows = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [9.0, 9.0]])
    np.testing.assert_allclose(SupportGraphs.masses(Bags.from_list([rows]), 1.0), [1 / 6, 1 / 6, 1 / 6, 1 / 2])


def test_count_neighbours_counts_equal_but_not_equidistant_instances():
    np.testing.assert_array_equal(count_neighbours(np.full((5, 3), 0.1)), 5)
    np.testing.assert_array_equal(count_neighbours(np.eye(5) / 3), 1)


def test_count_neighbours_is_the_same_in_any_order_for_a_distance_equal_to_the_mean():
    line = np.array([[0.0], [4.0], [9.0]])  # the mean of all nine distances is 4
    for scale in np.linspace(0.1, 1.7, 50):
        for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
            np.testing.assert_array_equal(count_neighbours(scale * line[order] + scale), np.array([2, 2, 1])[order])


@pytest.mark.parametrize("pairs", [1, 7, 20, 21, 49, 1000])
def test_count_neighbours_does_not_depend_on_the_chunk_size(pairs):
    rows = GENERATOR.normal(size=(7, 3))
    np.testing.assert_array_equal(count_neighbours(rows, pairs), count_neighbours(rows))


def test_mi_graph_has_the_scores_of_the_machine_on_the_graph_kernel():
    model = MiGraph(gamma=0.2, C=3, scaling="none", calibration=False).fit(BAGS, LABELS)
    new_bags = Bags.from_list([GENERATOR.normal(size=(size, 3)) for size in (2, 5, 1)])
    machine = SVC(kernel="precomputed", C=3, tol=FINE).fit(compute_graph_kernels(BAGS, BAGS, 0.2), LABELS)
    expected = machine.decision_function(compute_graph_kernels(new_bags, BAGS, 0.2))
    np.testing.assert_allclose(model.decision_function(new_bags), expected, rtol=0, atol=1e-8)


def test_mi_graph_equals_a_gaussian_svm_for_bags_of_one_instance():
    rows, labels = GENERATOR.normal(size=(60, 4)), np.arange(60) % 2
    rows[labels == 1] += 1
    model = MiGraph(C=2, scaling="none", calibration=False).fit(rows, labels)
    machine = SVC(kernel="rbf", gamma="scale", C=2, tol=FINE).fit(rows, labels)
    new_bags = GENERATOR.normal(size=(20, 4))
    np.testing.assert_allclose(
        model.decision_function(new_bags), machine.decision_function(new_bags), rtol=0, atol=1e-8
    )


@pytest.mark.parametrize("parameters", [{"C": 0}, {"gamma": -1}], ids=str)
def test_fit_rejects_invalid_parameters_by_name(parameters):
    with pytest.raises(InputError, match=f"{next(iter(parameters))} is"):
        MiGraph(**parameters).fit(BAGS, LABELS)
