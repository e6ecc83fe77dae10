import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from bagwise.errors import InputError
from bagwise.estimators.classical import hyperplanes
from bagwise.estimators.classical.hyperplanes import (
    ExactSpace,
    Kernel,
    KernelExpansion,
    NystromSpace,
    PointKernel,
    TrainingPoints,
    build_kernel,
    compute_objective,
    make_expansion,
)

GENERATOR = np.random.default_rng(1)
ROWS, OTHERS = GENERATOR.normal(size=(40, 5)), GENERATOR.normal(size=(30, 5))
LABELS = np.where(ROWS[:, 0] + GENERATOR.normal(size=40) > 0, 1, -1)


@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_kernel_computes_the_rbf_at_any_distance_from_zero(offset):
    expected = np.exp(-0.3 * cdist(ROWS, OTHERS, "sqeuclidean"))
    np.testing.assert_allclose(
        Kernel(0.3)(ROWS + offset, OTHERS + offset), expected, rtol=1e-12 if offset == 0 else 1e-8
    )


def test_kernel_never_exceeds_one_for_the_rbf():
    rows = 1e3 * GENERATOR.normal(size=(200, 3))
    assert Kernel(1.0)(rows, rows).max() <= 1


def test_kernel_computes_the_linear_product():
    np.testing.assert_allclose(Kernel(0.0)(ROWS, OTHERS), np.einsum("iw,jw->ij", ROWS, OTHERS), atol=1e-13)


@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_kernel_expansion_has_the_scores_of_its_support_vector_machine(name):
    machine = SVC(kernel=name, C=3.0, gamma=0.2).fit(ROWS, LABELS)
    expansion = KernelExpansion(
        build_kernel(name, 0.2, ROWS), machine.support_vectors_, machine.dual_coef_[0], machine.intercept_[0]
    )
    np.testing.assert_allclose(expansion(OTHERS), machine.decision_function(OTHERS), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("gamma", [0.0, 0.2])
def test_make_expansion_drops_rows_with_coefficient_zero(gamma):
    coefficients = GENERATOR.normal(size=40)
    coefficients[5:] = 0
    function = make_expansion(Kernel(gamma), ROWS, coefficients, 0.5)
    assert len(function.rows) == (5 if gamma else 1)
    np.testing.assert_allclose(function(OTHERS), Kernel(gamma)(OTHERS, ROWS) @ coefficients + 0.5, atol=1e-12)


def test_kernel_expansion_scores_in_blocks_of_bounded_memory(monkeypatch):
    function = KernelExpansion(Kernel(0.2), OTHERS, GENERATOR.normal(size=30), -0.1)
    whole = function(ROWS)
    sizes = []
    original = Kernel.__call__

    def record(kernel, rows, others):
        sizes.append(len(rows) * len(others))
        return original(kernel, rows, others)

    monkeypatch.setattr(Kernel, "__call__", record)
    monkeypatch.setattr(hyperplanes, "VALUES_PER_BLOCK", 100)
    np.testing.assert_allclose(function(ROWS), whole, rtol=1e-12)
    assert max(sizes) <= 100
    assert sum(sizes) == 40 * 30


def test_build_kernel_computes_scale_like_scikit_learn():
    rows = 7 * ROWS + 2
    assert build_kernel("rbf", "scale", rows).gamma == pytest.approx(SVC(gamma="scale").fit(rows, LABELS)._gamma)


@pytest.mark.parametrize(("name", "gamma"), [("poly", 1.0), ("rbf", 0), ("rbf", "wide")])
def test_build_kernel_rejects_unknown_kernels_and_gammas_by_name(name, gamma):
    with pytest.raises(InputError, match="kernel 'poly' is unknown" if name == "poly" else "gamma is"):
        build_kernel(name, gamma, ROWS)


PLANE_GENERATOR = np.random.default_rng(2)
PLANE_ROWS = PLANE_GENERATOR.normal(size=(60, 4))
PLANE_LABELS = np.where(PLANE_ROWS[:, 0] + PLANE_GENERATOR.normal(size=60) > 0, 1, -1)
COSTS = PLANE_GENERATOR.uniform(0.5, 5, size=60)


def make_nystrom(components, gamma=0.3):
    return NystromSpace(Kernel(gamma), PLANE_ROWS, components, np.random.default_rng(3))


def sample_shares(n_points=25):
    """Sample points, some of which are rows and some mixtures of rows."""
    shares = np.zeros((n_points, 60))
    for point in range(n_points):
        rows = PLANE_GENERATOR.choice(60, size=PLANE_GENERATOR.choice([1, 1, 4]), replace=False)
        shares[point, rows] = 1 / len(rows)
    return shares


@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_exact_space_fits_the_plane_of_minimum_objective(gamma):
    points = TrainingPoints(PLANE_LABELS, COSTS)
    plane = ExactSpace(Kernel(gamma), PLANE_ROWS).fit_hyperplane(points)
    multipliers = plane.coefficients * PLANE_LABELS
    assert (multipliers >= 0).all()
    assert (multipliers <= COSTS * (1 + 1e-9)).all()
    assert plane.coefficients.sum() == pytest.approx(0, abs=1e-6)
    kernel = PLANE_ROWS @ PLANE_ROWS.T if gamma == 0 else rbf_kernel(PLANE_ROWS, gamma=gamma)
    bound = (
        multipliers.sum() - 0.5 * plane.coefficients @ kernel @ plane.coefficients
    )  # the dual objective is a lower bound
    assert compute_objective(plane, points) == pytest.approx(bound, rel=1e-6)


def test_compute_objective_is_half_the_squared_norm_plus_the_cost_of_errors():
    plane = ExactSpace(Kernel(0.0), PLANE_ROWS).fit_hyperplane(TrainingPoints(PLANE_LABELS, COSTS))
    normal = plane.coefficients @ PLANE_ROWS
    errors = np.maximum(0, 1 - PLANE_LABELS * (PLANE_ROWS @ normal + plane.intercept))
    expected = 0.5 * normal @ normal + COSTS @ errors
    assert compute_objective(plane, TrainingPoints(PLANE_LABELS, COSTS)) == pytest.approx(expected, rel=1e-12)


def test_exact_space_finds_the_best_intercept():
    for costs in (COSTS, np.ones(60)):
        points = TrainingPoints(PLANE_LABELS, costs)
        plane = ExactSpace(Kernel(0.3), PLANE_ROWS).fit_hyperplane(points)
        products = plane.scores - plane.intercept
        others = [plane._replace(scores=products + kink) for kink in PLANE_LABELS - products]
        assert compute_objective(plane, points) <= min(compute_objective(other, points) for other in others) * (
            1 + 1e-12
        )


def test_exact_space_chooses_the_midpoint_of_equally_good_intercepts():
    rows = np.array([[-3.0], [-2.5], [2.5], [3.0]])
    plane = ExactSpace(Kernel(0.0), rows).fit_hyperplane(TrainingPoints(np.array([-1, -1, 1, 1]), np.full(4, 1e-3)))
    assert plane.intercept == pytest.approx(0)


@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_exact_space_separates_mixtures_of_rows(gamma):
    shares, labels = sample_shares(), np.repeat([-1, 1], [13, 12])
    costs = np.full(25, 2.0)
    kernel = PLANE_ROWS @ PLANE_ROWS.T if gamma == 0 else rbf_kernel(PLANE_ROWS, gamma=gamma)
    machine = SVC(kernel="precomputed", C=2.0, tol=1e-9).fit(shares @ kernel @ shares.T, labels)
    plane = ExactSpace(Kernel(gamma), PLANE_ROWS).fit_hyperplane(TrainingPoints(labels, costs, csr_array(shares)))
    np.testing.assert_allclose(plane.scores, machine.decision_function(kernel @ shares.T), atol=1e-5)
    scores_of_points = TrainingPoints(labels, costs, csr_array(shares)).scores(plane.scores)
    np.testing.assert_allclose(scores_of_points, machine.decision_function(shares @ kernel @ shares.T), atol=1e-5)


def test_point_kernel_is_correct_after_every_change():
    values = rbf_kernel(PLANE_ROWS)
    point_kernel, shares = PointKernel(values), sample_shares()
    for _ in range(5):
        np.testing.assert_allclose(point_kernel.compute(csr_array(shares)), shares @ values @ shares.T, atol=1e-14)
        changed = PLANE_GENERATOR.choice(25, size=6, replace=False)
        shares[changed] = sample_shares()[changed]
    np.testing.assert_array_equal(point_kernel.compute(None), values)


@pytest.mark.parametrize(
    "space", [ExactSpace(Kernel(0.3), PLANE_ROWS), ExactSpace(Kernel(0.0), PLANE_ROWS), make_nystrom(20)]
)
def test_make_function_agrees_with_the_plane(space):
    plane = space.fit_hyperplane(TrainingPoints(PLANE_LABELS, COSTS))
    np.testing.assert_allclose(space.make_function(plane)(PLANE_ROWS), plane.scores, atol=1e-10)


def test_nystrom_space_is_exact_if_every_row_is_a_landmark():
    space = make_nystrom(60)
    np.testing.assert_allclose(space.features @ space.features.T, rbf_kernel(PLANE_ROWS, gamma=0.3), atol=1e-8)
    np.testing.assert_array_equal(make_nystrom(1000).features, space.features)


def test_nystrom_space_accepts_equal_landmarks():
    rows = np.repeat(PLANE_ROWS[:6], 10, axis=0)
    space = NystromSpace(Kernel(0.3), rows, 60, np.random.default_rng(3))
    assert space.features.shape == (60, 6)
    np.testing.assert_allclose(space.features @ space.features.T, rbf_kernel(rows, gamma=0.3))


def test_nystrom_space_fits_a_plane_of_locally_minimum_objective():
    space, points = make_nystrom(15), TrainingPoints(PLANE_LABELS, COSTS)
    plane = space.fit_hyperplane(points)
    normal = np.linalg.lstsq(space.whitening, plane.coefficients, rcond=None)[0]

    def compute_cost(normal, intercept):
        errors = np.maximum(0, 1 - PLANE_LABELS * (space.features @ normal + intercept))
        return 0.5 * (normal @ normal + intercept**2) + COSTS @ errors

    minimum = compute_cost(normal, plane.intercept)
    assert compute_objective(plane, points) == pytest.approx(minimum, rel=1e-9)
    for size in (1e-3, 1e-2, 1e-1, 1.0):
        for _ in range(50):
            moved = compute_cost(
                normal + size * PLANE_GENERATOR.normal(size=normal.shape),
                plane.intercept + size * PLANE_GENERATOR.normal(),
            )
            assert moved >= minimum * (1 - 1e-3)


def test_nystrom_space_separates_mixtures_of_rows():
    shares, labels = sample_shares(), np.repeat([-1, 1], [13, 12])
    space = make_nystrom(20)
    plane = space.fit_hyperplane(TrainingPoints(labels, np.ones(25), csr_array(shares)))
    mixed = NystromSpace.__new__(NystromSpace)
    mixed.whitening, mixed.features, mixed.seed = space.whitening, shares @ space.features, space.seed
    np.testing.assert_allclose(
        mixed.fit_hyperplane(TrainingPoints(labels, np.ones(25))).intercept, plane.intercept, rtol=1e-6
    )


def test_exact_space_rejects_a_kernel_that_needs_more_than_the_available_memory(monkeypatch):
    monkeypatch.setattr(hyperplanes, "get_free_memory", lambda: 16 * len(PLANE_ROWS) ** 2 - 1)
    with pytest.raises(InputError, match=r"60 instances needs about 0.0 GB of memory, but only .* components=500"):
        ExactSpace(Kernel(0.3), PLANE_ROWS)
    monkeypatch.setattr(hyperplanes, "get_free_memory", lambda: 16 * len(PLANE_ROWS) ** 2)
    ExactSpace(Kernel(0.3), PLANE_ROWS)


def test_exact_space_rejects_a_kernel_too_large_for_memory(monkeypatch):
    monkeypatch.setattr(hyperplanes, "MAX_EXACT_ROWS", 59)
    with pytest.raises(InputError, match=r"60 instances .* components=500"):
        ExactSpace(Kernel(0.3), PLANE_ROWS)
