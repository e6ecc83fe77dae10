import numpy as np
import pytest
from sklearn.svm import SVC

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import MinimaxKernel
from bagwise.estimators.kernels import precomputed_svm
from bagwise.estimators.kernels.minimax_kernel import box_kernel, boxes

DRAWS = np.random.default_rng(0)
BAGS = Bags.from_list([DRAWS.normal(size=(size, 3)) for size in (1, 4, 2, 6, 3, 5)])
LABELS = np.array([0, 1, 0, 1, 0, 1])
FINE = 1e-11  # of both solvers, so that they meet


@pytest.fixture(autouse=True)
def fine_solver(monkeypatch):
    monkeypatch.setattr(precomputed_svm, "TOLERANCE", FINE)


def minimax(X, Y, gamma, power):
    """The kernel of two bags, coordinate by coordinate."""
    dot = sum(X[:, f].min() * Y[:, f].min() + X[:, f].max() * Y[:, f].max() for f in range(X.shape[1]))
    return (1 + gamma * dot) ** power


def normalised(left, right, gamma, power):
    def one(X, Y):
        return minimax(X, Y, gamma, power) / np.sqrt(minimax(X, X, gamma, power) * minimax(Y, Y, gamma, power))

    return np.array([[one(X, Y) for Y in right] for X in left])


@pytest.mark.parametrize("power", [1, 2, 3])
def test_the_kernel_is_its_definition_for_each_pair_of_bags(power):
    statistics = boxes(BAGS)
    found = box_kernel(statistics, statistics, 0.4, power)
    np.testing.assert_allclose(found, normalised(BAGS, BAGS, 0.4, power), rtol=0, atol=1e-12)


def test_the_kernel_has_a_unit_diagonal_is_symmetric_and_positive_semidefinite():
    statistics = boxes(BAGS)
    kernel = box_kernel(statistics, statistics, 0.4, 3)
    np.testing.assert_allclose(kernel.diagonal(), 1, rtol=1e-12)
    np.testing.assert_allclose(kernel, kernel.T, rtol=0, atol=1e-13)
    assert np.linalg.eigvalsh(kernel).min() >= -1e-10


def test_scores_are_those_of_the_machine_on_the_minimax_kernel():
    model = MinimaxKernel(gamma=0.2, power=2, C=3, standardize=False, calibration=0).fit(BAGS, LABELS)
    fresh = Bags.from_list([DRAWS.normal(size=(size, 3)) for size in (2, 5, 1)])
    machine = SVC(kernel="precomputed", C=3, tol=FINE).fit(normalised(BAGS, BAGS, 0.2, 2), LABELS)
    expected = machine.decision_function(normalised(fresh, BAGS, 0.2, 2))
    np.testing.assert_allclose(model.decision_function(fresh), expected, rtol=0, atol=1e-8)


def test_a_share_is_the_share_of_coordinates_an_instance_sets():
    model = MinimaxKernel(standardize=False, calibration=0).fit(BAGS.map(lambda rows: rows[:, :2]), LABELS)
    bag = np.array([[0.0, 5.0], [3.0, 5.0], [1.0, 1.0]])  # least: 0, 2; greatest: 1, and 0 with 1
    np.testing.assert_allclose(model.weigh([bag]), [1.5 / 4, 1.5 / 4, 1 / 4])
    np.testing.assert_allclose(model.weigh([np.ones((4, 2))]), 1 / 4)


@pytest.mark.parametrize("parameters", [{"power": 0}, {"power": 1.5}, {"C": 0}, {"gamma": -1}], ids=str)
def test_wrong_parameters_are_named(parameters):
    with pytest.raises(InputError, match=f"{next(iter(parameters))} is"):
        MinimaxKernel(**parameters).fit(BAGS, LABELS)
