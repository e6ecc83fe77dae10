import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from bagwise.estimators.kernels.precomputed_svm import TOLERANCE, one_against_rest

DRAWS = np.random.default_rng(0)
TARGETS = np.arange(60) % 3
ROWS = DRAWS.normal(size=(60, 3)) + TARGETS[:, None]
FRESH = DRAWS.normal(size=(20, 3))
KERNEL, CROSS = rbf_kernel(ROWS), rbf_kernel(FRESH, ROWS)


def test_two_classes_give_one_score_positive_for_the_second():
    targets = TARGETS % 2
    duals = one_against_rest(KERNEL, targets, penalty=2.0)
    machine = SVC(kernel="precomputed", C=2.0, tol=TOLERANCE).fit(KERNEL, targets)
    scores = CROSS @ duals.coefficients + duals.intercepts
    np.testing.assert_allclose(scores[:, 0], machine.decision_function(CROSS), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(duals.support, np.sort(machine.support_))


def test_more_classes_are_each_set_against_the_rest():
    duals = one_against_rest(KERNEL, TARGETS, penalty=2.0)
    scores = CROSS @ duals.coefficients + duals.intercepts
    for number in range(3):
        machine = SVC(kernel="precomputed", C=2.0, tol=TOLERANCE).fit(KERNEL, number == TARGETS)
        np.testing.assert_allclose(scores[:, number], machine.decision_function(CROSS), rtol=0, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bags_outside_the_support_count_for_nothing(n_classes):
    duals = one_against_rest(KERNEL, TARGETS % n_classes, penalty=2.0)
    outside = np.setdiff1d(np.arange(60), duals.support)
    assert len(outside) > 0
    assert not duals.coefficients[outside].any()
    assert duals.coefficients[duals.support].any(axis=1).all()


def test_the_rounding_of_a_kernel_does_not_show_in_the_scores():
    noise = 1 + 1e-14 * DRAWS.normal(size=KERNEL.shape)
    exact, rounded = (one_against_rest(kernel, TARGETS, penalty=100.0) for kernel in (KERNEL, KERNEL * noise))
    scores, others = (CROSS @ duals.coefficients + duals.intercepts for duals in (exact, rounded))
    np.testing.assert_allclose(scores, others, rtol=0, atol=1e-4)
