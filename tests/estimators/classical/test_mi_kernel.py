import numpy as np
import pytest
from sklearn.svm import SVC

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical import kernel_machine
from bagwise.estimators.classical.bag_kernels import compute_gram_matrix
from bagwise.estimators.classical.mi_kernel import MIKernel, SupportSets

GENERATOR = np.random.default_rng(0)
BAGS = Bags.from_list([GENERATOR.normal(size=(size, 3)) for size in (1, 4, 2, 6, 3, 5)])
LABELS = np.array([0, 1, 0, 1, 0, 1])
FINE = 1e-11  # tolerance of both solvers, so that their results can be compared


@pytest.fixture(autouse=True)
def fine_solver(monkeypatch):
    monkeypatch.setattr(kernel_machine, "TOLERANCE", FINE)


def compute_set_kernel(X, Y, gamma, power):
    """Compute Σ Σ k(x, y)ᵖ from its definition."""
    return sum(np.exp(-gamma * ((x - y) ** 2).sum()) ** power for x in X for y in Y)


def compute_normalised_kernels(left, right, gamma, power=1):
    def compute_norm(bag):
        return np.sqrt(compute_set_kernel(bag, bag, gamma, power))

    return np.array(
        [[compute_set_kernel(X, Y, gamma, power) / (compute_norm(X) * compute_norm(Y)) for Y in right] for X in left]
    )


def compute_kernel(bags, gamma):
    return compute_gram_matrix(bags, SupportSets.masses(bags, gamma), gamma)


def test_kernel_is_the_normalised_set_kernel():
    np.testing.assert_allclose(compute_kernel(BAGS, 0.3), compute_normalised_kernels(BAGS, BAGS, 0.3), rtol=1e-12)


def test_kernel_has_unit_diagonal_and_is_symmetric_and_positive_semidefinite():
    kernel = compute_kernel(BAGS, 0.05)
    np.testing.assert_allclose(kernel.diagonal(), 1, rtol=1e-12)
    np.testing.assert_allclose(kernel, kernel.T, rtol=1e-13)
    assert np.linalg.eigvalsh(kernel).min() >= -1e-10
    assert (np.abs(kernel) <= 1 + 1e-12).all()


def test_kernel_does_not_change_if_all_instances_of_a_bag_are_repeated():
    twice = Bags.from_list([np.concatenate([bag, bag]) for bag in BAGS])
    np.testing.assert_allclose(compute_kernel(twice, 0.3), compute_kernel(BAGS, 0.3), rtol=1e-12)


@pytest.mark.parametrize("power", [1, 3, 0.5])
def test_mi_kernel_has_the_scores_of_the_machine_on_the_set_kernel(power):
    model = MIKernel(gamma=0.2, power=power, C=3, scaling="none", calibration=False).fit(BAGS, LABELS)
    new_rows = Bags.from_list([GENERATOR.normal(size=(size, 3)) for size in (2, 5, 1)])
    machine = SVC(kernel="precomputed", C=3, tol=FINE).fit(compute_normalised_kernels(BAGS, BAGS, 0.2, power), LABELS)
    expected = machine.decision_function(compute_normalised_kernels(new_rows, BAGS, 0.2, power))
    np.testing.assert_allclose(model.decision_function(new_rows), expected, rtol=0, atol=1e-8)


def test_mi_kernel_equals_a_gaussian_svm_for_bags_of_one_instance():
    rows, labels = GENERATOR.normal(size=(60, 4)), np.arange(60) % 2
    rows[labels == 1] += 1
    model = MIKernel(C=2, scaling="none", calibration=False).fit(rows, labels)
    machine = SVC(kernel="rbf", gamma="scale", C=2, tol=FINE).fit(rows, labels)
    new_rows = GENERATOR.normal(size=(20, 4))
    np.testing.assert_allclose(
        model.decision_function(new_rows), machine.decision_function(new_rows), rtol=0, atol=1e-8
    )


def test_weigh_gives_the_key_instance_the_largest_weight():
    def sample_bag(positive):
        rows = GENERATOR.normal(size=(6, 4))
        rows[2] += 5 * positive
        return rows

    labels = np.arange(80) % 2
    model = MIKernel(C=10, calibration=False).fit([sample_bag(label) for label in labels], labels)
    positive = [sample_bag(1) for _ in range(20)]
    assert (model.predict(positive) == 1).all()
    assert (model.weigh(positive).reshape(20, 6).argmax(axis=1) == 2).all()


@pytest.mark.parametrize(
    "parameters", [{"power": 0}, {"power": "2"}, {"C": 0}, {"C": None}, {"gamma": "wide"}], ids=str
)
def test_fit_rejects_invalid_parameters_by_name(parameters):
    with pytest.raises(InputError, match=f"{next(iter(parameters))} is"):
        MIKernel(**parameters).fit(BAGS, LABELS)
