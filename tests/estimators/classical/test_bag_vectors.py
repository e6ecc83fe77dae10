import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.classical import bag_vectors
from bagwise.estimators.classical.bag_vectors import (
    CodeBook,
    LearnedVectors,
    LinearClassifier,
    compute_bag_vectors,
    fit_linear_classifier,
    normalize_parts,
)

GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fit_linear_machine_has_the_scores_of_liblinear(n_classes):
    vectors = GENERATOR.normal(size=(60, 7))
    targets = np.arange(60) % n_classes
    machine = fit_linear_classifier(vectors, targets, 0.5)
    solver = LinearSVC(C=0.5, dual=False, max_iter=10_000).fit(vectors, targets)
    new_vectors = GENERATOR.normal(size=(20, 7))
    expected = solver.decision_function(new_vectors).reshape(20, -1)
    np.testing.assert_allclose(machine.scores(new_vectors), expected, rtol=0, atol=1e-10)


def test_fit_linear_machine_minimises_the_documented_objective():
    vectors = GENERATOR.normal(size=(40, 3))
    signs = np.where(vectors[:, 0] + 0.8 * GENERATOR.normal(size=40) > 0, 1, -1)

    def compute_objective(plane):
        margins = signs * (vectors @ plane[:3] + plane[3])
        return 0.5 * plane @ plane + 2.0 * (np.maximum(0, 1 - margins) ** 2).sum()

    machine = fit_linear_classifier(vectors, (signs > 0).astype(int), 2.0)
    found = np.append(machine.weights[0], machine.biases)
    best = minimize(compute_objective, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(found, best.x, atol=1e-3)


@pytest.mark.parametrize("C", [0, -1.0, "much"])
def test_fit_linear_machine_rejects_invalid_penalties_by_name(C):
    with pytest.raises(InputError, match="C is"):
        fit_linear_classifier(GENERATOR.normal(size=(4, 2)), np.array([0, 1, 0, 1]), C)


GENERATOR = np.random.default_rng(4)
BAGS = Bags.from_list([GENERATOR.normal(size=(size, 3)) for size in (1, 4, 2, 9, 1, 3)])


class IdentityCodes(CodeBook):
    """A code book whose codes are the rows."""

    width = 3

    def codes(self, rows):
        return rows


class LearnedIdentity(LearnedVectors):
    def __init__(self, book, machine):
        self.book, self.machine = book, machine


def test_compute_bag_vectors_is_the_normalised_signed_root_of_the_sum():
    for bag, vector in zip(BAGS, compute_bag_vectors(IdentityCodes(), BAGS), strict=True):
        roots = []
        for column in range(3):
            total = sum(row[column] for row in bag)
            roots.append(np.sqrt(abs(total)) * (1 if total > 0 else -1))
        length = sum(root**2 for root in roots) ** 0.5
        np.testing.assert_allclose(vector, np.array(roots) / length, rtol=1e-12)


def test_compute_bag_vectors_is_zero_if_the_codes_cancel_out():
    bags = Bags.from_list([[[1.0, -2.0, 0.5], [-1.0, 2.0, -0.5]]])
    np.testing.assert_array_equal(compute_bag_vectors(IdentityCodes(), bags), np.zeros((1, 3)))


@pytest.mark.parametrize("rows_per_chunk", [1, 2, 5, 7])
def test_vectors_and_shares_do_not_depend_on_the_chunk_size(monkeypatch, rows_per_chunk):
    learned = LearnedIdentity(IdentityCodes(), LinearClassifier(np.array([[1.0, -2.0, 0.3]]), np.array([0.2])))
    vectors, shares = compute_bag_vectors(IdentityCodes(), BAGS), learned.shares(BAGS)
    monkeypatch.setattr(bag_vectors, "VALUES_PER_CHUNK", 3 * rows_per_chunk)
    np.testing.assert_allclose(compute_bag_vectors(IdentityCodes(), BAGS), vectors, rtol=1e-12)
    np.testing.assert_allclose(learned.shares(BAGS), shares, rtol=1e-12)


def test_shares_are_proportional_to_the_absolute_part_in_the_score():
    weights = np.array([1.0, -2.0, 0.3])
    shares = LearnedIdentity(IdentityCodes(), LinearClassifier(weights[None], np.array([0.2]))).shares(BAGS)
    for bag, found in zip(BAGS, np.split(shares, BAGS.offsets[1:-1]), strict=True):
        parts = [abs(float(weights @ row)) for row in bag]
        np.testing.assert_allclose(found, np.array(parts) / sum(parts), rtol=1e-12)


def test_shares_use_the_hyperplane_of_the_predicted_class():
    machine = LinearClassifier(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([0.0, 0.0, 0.0]))
    bags = Bags.from_list([[[9.0, 1.0, 0.0], [3.0, 5.0, 0.0]], [[9.0, 1.0, 4.0], [3.0, 5.0, 12.0]]])
    np.testing.assert_allclose(LearnedIdentity(IdentityCodes(), machine).shares(bags), [0.75, 0.25, 0.25, 0.75])


def test_compute_portions_is_uniform_if_all_parts_are_zero():
    bags = Bags.from_list([[[0.0]] * 4, [[0.0]] * 2])
    parts = np.array([0.0, 0.0, 0.0, 0.0, 3.0, 1.0])
    np.testing.assert_array_equal(normalize_parts(parts, bags), [0.25, 0.25, 0.25, 0.25, 0.75, 0.25])
