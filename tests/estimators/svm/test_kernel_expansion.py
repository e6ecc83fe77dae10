import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from bagwise.errors import InputError
from bagwise.estimators.svm import kernel_expansion
from bagwise.estimators.svm.kernel_expansion import Kernel, KernelExpansion, build_kernel, expand

DRAWS = np.random.default_rng(1)
ROWS, OTHERS = DRAWS.normal(size=(40, 5)), DRAWS.normal(size=(30, 5))
LABELS = np.where(ROWS[:, 0] + DRAWS.normal(size=40) > 0, 1, -1)


@pytest.mark.parametrize("far", [0.0, 1e5])
def test_rbf_is_the_exponential_of_the_distance_however_far_from_zero(far):
    expected = np.exp(-0.3 * cdist(ROWS, OTHERS, "sqeuclidean"))
    np.testing.assert_allclose(Kernel(0.3)(ROWS + far, OTHERS + far), expected, rtol=1e-12 if far == 0 else 1e-8)


def test_rbf_never_exceeds_one():
    rows = 1e3 * DRAWS.normal(size=(200, 3))
    assert Kernel(1.0)(rows, rows).max() <= 1


def test_linear_is_the_product():
    np.testing.assert_allclose(Kernel(0.0)(ROWS, OTHERS), np.einsum("iw,jw->ij", ROWS, OTHERS), atol=1e-13)


@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_the_arrays_decide_as_the_machine_they_come_from(name):
    machine = SVC(kernel=name, C=3.0, gamma=0.2).fit(ROWS, LABELS)
    own = KernelExpansion(
        build_kernel(name, 0.2, ROWS), machine.support_vectors_, machine.dual_coef_[0], machine.intercept_[0]
    )
    np.testing.assert_allclose(own(OTHERS), machine.decision_function(OTHERS), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("gamma", [0.0, 0.2])
def test_rows_that_do_not_count_are_left_out(gamma):
    coefficients = DRAWS.normal(size=40)
    coefficients[5:] = 0
    function = expand(Kernel(gamma), ROWS, coefficients, 0.5)
    assert len(function.rows) == (5 if gamma else 1)
    np.testing.assert_allclose(function(OTHERS), Kernel(gamma)(OTHERS, ROWS) @ coefficients + 0.5, atol=1e-12)


def test_scores_come_in_blocks_of_bounded_memory(monkeypatch):
    function = KernelExpansion(Kernel(0.2), OTHERS, DRAWS.normal(size=30), -0.1)
    whole = function(ROWS)
    sizes = []
    plain = Kernel.__call__

    def recorded(kernel, rows, others):
        sizes.append(len(rows) * len(others))
        return plain(kernel, rows, others)

    monkeypatch.setattr(Kernel, "__call__", recorded)
    monkeypatch.setattr(kernel_expansion, "NUMBERS_AT_ONCE", 100)
    np.testing.assert_allclose(function(ROWS), whole, rtol=1e-12)
    assert max(sizes) <= 100
    assert sum(sizes) == 40 * 30


def test_scale_is_that_of_scikit_learn():
    rows = 7 * ROWS + 2
    assert build_kernel("rbf", "scale", rows).gamma == pytest.approx(SVC(gamma="scale").fit(rows, LABELS)._gamma)


@pytest.mark.parametrize(("name", "gamma"), [("poly", 1.0), ("rbf", 0), ("rbf", "wide")])
def test_what_is_no_kernel_is_refused(name, gamma):
    with pytest.raises(InputError, match=r"kernel|gamma"):
        build_kernel(name, gamma, ROWS)
