import numpy as np
import pytest
from sklearn.svm import SVC

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical import kernel_machine
from bagwise.estimators.classical.minimax_kernel import MinimaxKernel, compute_box_kernel, compute_boxes

GENERATOR = np.random.default_rng(0)
BAGS = Bags.from_list([GENERATOR.normal(size=(size, 3)) for size in (1, 4, 2, 6, 3, 5)])
LABELS = np.array([0, 1, 0, 1, 0, 1])
FINE = 1e-11  # tolerance of both solvers, so that their results can be compared


@pytest.fixture(autouse=True)
def fine_solver(monkeypatch):
    monkeypatch.setattr(kernel_machine, "TOLERANCE", FINE)


def compute_minimax(X, Y, gamma, power):
    """Compute the kernel of two bags from its definition."""
    dot = sum(X[:, f].min() * Y[:, f].min() + X[:, f].max() * Y[:, f].max() for f in range(X.shape[1]))
    return (1 + gamma * dot) ** power


def compute_normalised_kernels(left, right, gamma, power):
    def compute_norm(bag):
        return np.sqrt(compute_minimax(bag, bag, gamma, power))

    return np.array(
        [[compute_minimax(X, Y, gamma, power) / (compute_norm(X) * compute_norm(Y)) for Y in right] for X in left]
    )


@pytest.mark.parametrize("power", [1, 2, 3])
def test_compute_box_kernel_equals_the_equation_of_the_article(power):
    boxes = compute_boxes(BAGS)
    found = compute_box_kernel(boxes, boxes, 0.4, power)
    np.testing.assert_allclose(found, compute_normalised_kernels(BAGS, BAGS, 0.4, power), rtol=0, atol=1e-12)


def test_compute_box_kernel_has_unit_diagonal_and_is_symmetric_and_positive_semidefinite():
    boxes = compute_boxes(BAGS)
    kernel = compute_box_kernel(boxes, boxes, 0.4, 3)
    np.testing.assert_allclose(kernel.diagonal(), 1, rtol=1e-12)
    np.testing.assert_allclose(kernel, kernel.T, rtol=0, atol=1e-13)
    assert np.linalg.eigvalsh(kernel).min() >= -1e-10


def test_minimax_kernel_has_the_scores_of_the_machine_on_the_kernel():
    model = MinimaxKernel(gamma=0.2, power=2, C=3, scaling="none", calibration=False).fit(BAGS, LABELS)
    new_bags = Bags.from_list([GENERATOR.normal(size=(size, 3)) for size in (2, 5, 1)])
    machine = SVC(kernel="precomputed", C=3, tol=FINE).fit(compute_normalised_kernels(BAGS, BAGS, 0.2, 2), LABELS)
    expected = machine.decision_function(compute_normalised_kernels(new_bags, BAGS, 0.2, 2))
    np.testing.assert_allclose(model.decision_function(new_bags), expected, rtol=0, atol=1e-8)


def test_weigh_returns_the_share_of_the_coordinates_that_each_instance_attains():
    model = MinimaxKernel(scaling="none", calibration=False).fit(BAGS.map(lambda rows: rows[:, :2]), LABELS)
    bag = np.array([[0.0, 5.0], [3.0, 5.0], [1.0, 1.0]])  # minima: rows 0, 2; maxima: row 1, and rows 0 and 1 tied
    np.testing.assert_allclose(model.weigh([bag]), [1.5 / 4, 1.5 / 4, 1 / 4])
    np.testing.assert_allclose(model.weigh([np.ones((4, 2))]), 1 / 4)


@pytest.mark.parametrize("parameters", [{"power": 0}, {"power": 1.5}, {"C": 0}, {"gamma": -1}], ids=str)
def test_fit_rejects_invalid_parameters_by_name(parameters):
    with pytest.raises(InputError, match=f"{next(iter(parameters))} is"):
        MinimaxKernel(**parameters).fit(BAGS, LABELS)
