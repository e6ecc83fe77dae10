import numpy as np
import pytest
from sklearn.svm import SVC

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import MIKernel
from bagwise.estimators.kernels import precomputed_svm
from bagwise.estimators.kernels.bag_kernels import gram
from bagwise.estimators.kernels.set_kernel import SupportSets

DRAWS = np.random.default_rng(0)
BAGS = Bags.from_list([DRAWS.normal(size=(size, 3)) for size in (1, 4, 2, 6, 3, 5)])
LABELS = np.array([0, 1, 0, 1, 0, 1])
FINE = 1e-11  # of both solvers, so that they meet


@pytest.fixture(autouse=True)
def fine_solver(monkeypatch):
    monkeypatch.setattr(precomputed_svm, "TOLERANCE", FINE)


def set_kernel(X, Y, gamma, power):
    """Σ Σ k(x, y)ᵖ, pair by pair."""
    return sum(np.exp(-gamma * ((x - y) ** 2).sum()) ** power for x in X for y in Y)


def normalised(left, right, gamma, power=1):
    def one(X, Y):
        return set_kernel(X, Y, gamma, power) / np.sqrt(set_kernel(X, X, gamma, power) * set_kernel(Y, Y, gamma, power))

    return np.array([[one(X, Y) for Y in right] for X in left])


def kernel_of(bags, gamma):
    return gram(bags, SupportSets.masses(bags, gamma), gamma)


def test_the_kernel_is_the_normalised_set_kernel():
    np.testing.assert_allclose(kernel_of(BAGS, 0.3), normalised(BAGS, BAGS, 0.3), rtol=1e-12)


def test_the_kernel_has_a_unit_diagonal_is_symmetric_and_positive_semidefinite():
    kernel = kernel_of(BAGS, 0.05)
    np.testing.assert_allclose(kernel.diagonal(), 1, rtol=1e-12)
    np.testing.assert_allclose(kernel, kernel.T, rtol=1e-13)
    assert np.linalg.eigvalsh(kernel).min() >= -1e-10
    assert (np.abs(kernel) <= 1 + 1e-12).all()


def test_a_bag_laid_twice_end_to_end_is_the_same_set():
    twice = Bags.from_list([np.concatenate([bag, bag]) for bag in BAGS])
    np.testing.assert_allclose(kernel_of(twice, 0.3), kernel_of(BAGS, 0.3), rtol=1e-12)


@pytest.mark.parametrize("power", [1, 3, 0.5])
def test_scores_are_those_of_the_machine_on_the_set_kernel(power):
    model = MIKernel(gamma=0.2, power=power, C=3, standardize=False, calibration=0).fit(BAGS, LABELS)
    fresh = Bags.from_list([DRAWS.normal(size=(size, 3)) for size in (2, 5, 1)])
    machine = SVC(kernel="precomputed", C=3, tol=FINE).fit(normalised(BAGS, BAGS, 0.2, power), LABELS)
    expected = machine.decision_function(normalised(fresh, BAGS, 0.2, power))
    np.testing.assert_allclose(model.decision_function(fresh), expected, rtol=0, atol=1e-8)


def test_bags_of_one_instance_are_an_ordinary_gaussian_machine():
    rows, labels = DRAWS.normal(size=(60, 4)), np.arange(60) % 2
    rows[labels == 1] += 1
    model = MIKernel(C=2, standardize=False, calibration=0).fit(rows, labels)
    machine = SVC(kernel="rbf", gamma="scale", C=2, tol=FINE).fit(rows, labels)
    fresh = DRAWS.normal(size=(20, 4))
    np.testing.assert_allclose(model.decision_function(fresh), machine.decision_function(fresh), rtol=0, atol=1e-8)


def test_the_instance_that_makes_a_bag_positive_has_the_greatest_share():
    def draw(positive):
        rows = DRAWS.normal(size=(6, 4))
        rows[2] += 5 * positive
        return rows

    labels = np.arange(80) % 2
    model = MIKernel(C=10, calibration=0).fit([draw(label) for label in labels], labels)
    positive = [draw(1) for _ in range(20)]
    assert (model.predict(positive) == 1).all()
    assert (model.weigh(positive).reshape(20, 6).argmax(axis=1) == 2).all()


@pytest.mark.parametrize(
    "parameters", [{"power": 0}, {"power": "2"}, {"C": 0}, {"C": None}, {"gamma": "wide"}], ids=str
)
def test_wrong_parameters_are_named(parameters):
    with pytest.raises(InputError, match=f"{next(iter(parameters))} is"):
        MIKernel(**parameters).fit(BAGS, LABELS)
