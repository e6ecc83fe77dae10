import numpy as np
import pytest
from sklearn.svm import SVC

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import MiGraph
from bagwise.estimators.kernels import precomputed_svm
from bagwise.estimators.kernels.bag_kernels import gram
from bagwise.estimators.kernels.graph_kernel import SupportGraphs, neighbours

DRAWS = np.random.default_rng(0)
BAGS = Bags.from_list([DRAWS.normal(size=(size, 3)) for size in (1, 4, 2, 6, 3, 5)])
LABELS = np.array([0, 1, 0, 1, 0, 1])
FINE = 1e-11  # of both solvers, so that they meet


@pytest.fixture(autouse=True)
def fine_solver(monkeypatch):
    monkeypatch.setattr(precomputed_svm, "TOLERANCE", FINE)


def graph_kernel(X, Y, gamma):
    """The article's equation with its affinity matrices, term by term."""

    def votes(bag):
        distances = [[np.linalg.norm(a - u) for u in bag] for a in bag]
        threshold = np.mean(distances)
        affinity = [[1 if distance <= threshold else 0 for distance in row] for row in distances]
        return [1 / sum(row) for row in affinity]

    V, W = votes(X), votes(Y)
    total = 0.0
    for a, x in enumerate(X):
        for b, y in enumerate(Y):
            total += V[a] * W[b] * np.exp(-gamma * np.linalg.norm(x - y) ** 2)
    return total / (sum(V) * sum(W))


def pairwise(left, right, gamma):
    return np.array([[graph_kernel(X, Y, gamma) for Y in right] for X in left])


def kernel_of(bags, gamma):
    return gram(bags, SupportGraphs.masses(bags, gamma), gamma)


def test_the_kernel_is_its_definition_for_each_pair_of_bags():
    np.testing.assert_allclose(kernel_of(BAGS, 0.3), pairwise(BAGS, BAGS, 0.3), rtol=1e-12)


def test_the_kernel_is_symmetric_and_positive_semidefinite():
    kernel = kernel_of(BAGS, 0.05)
    np.testing.assert_allclose(kernel, kernel.T, rtol=1e-13)
    assert np.linalg.eigvalsh(kernel).min() >= -1e-10


def test_a_crowd_has_one_vote():
    crowd = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [9.0, 9.0]])
    np.testing.assert_allclose(SupportGraphs.masses(Bags.from_list([crowd]), 1.0), [1 / 6, 1 / 6, 1 / 6, 1 / 2])


def test_equal_instances_are_neighbours_and_equally_distant_ones_are_not():
    np.testing.assert_array_equal(neighbours(np.full((5, 3), 0.1)), 5)
    np.testing.assert_array_equal(neighbours(np.eye(5) / 3), 1)


def test_a_distance_that_is_the_mean_but_for_rounding_is_near_in_any_order():
    line = np.array([[0.0], [4.0], [9.0]])  # the mean of all nine distances is 4
    for scale in np.linspace(0.1, 1.7, 50):
        for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
            np.testing.assert_array_equal(neighbours(scale * line[order] + scale), np.array([2, 2, 1])[order])


@pytest.mark.parametrize("pairs", [1, 7, 20, 21, 49, 1000])
def test_pieces_of_any_size_give_the_same_neighbours(pairs):
    rows = DRAWS.normal(size=(7, 3))
    np.testing.assert_array_equal(neighbours(rows, pairs), neighbours(rows))


def test_scores_are_those_of_the_machine_on_the_graph_kernel():
    model = MiGraph(gamma=0.2, C=3, standardize=False, calibration=0).fit(BAGS, LABELS)
    fresh = Bags.from_list([DRAWS.normal(size=(size, 3)) for size in (2, 5, 1)])
    machine = SVC(kernel="precomputed", C=3, tol=FINE).fit(pairwise(BAGS, BAGS, 0.2), LABELS)
    expected = machine.decision_function(pairwise(fresh, BAGS, 0.2))
    np.testing.assert_allclose(model.decision_function(fresh), expected, rtol=0, atol=1e-8)


def test_bags_of_one_instance_are_an_ordinary_gaussian_machine():
    rows, labels = DRAWS.normal(size=(60, 4)), np.arange(60) % 2
    rows[labels == 1] += 1
    model = MiGraph(C=2, standardize=False, calibration=0).fit(rows, labels)
    machine = SVC(kernel="rbf", gamma="scale", C=2, tol=FINE).fit(rows, labels)
    fresh = DRAWS.normal(size=(20, 4))
    np.testing.assert_allclose(model.decision_function(fresh), machine.decision_function(fresh), rtol=0, atol=1e-8)


@pytest.mark.parametrize("parameters", [{"C": 0}, {"gamma": -1}], ids=str)
def test_wrong_parameters_are_named(parameters):
    with pytest.raises(InputError, match=f"{next(iter(parameters))} is"):
        MiGraph(**parameters).fit(BAGS, LABELS)
