import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from bagwise.errors import InputError
from bagwise.estimators.svm import planes
from bagwise.estimators.svm.kernel_expansion import Kernel
from bagwise.estimators.svm.planes import Between, ExactSpace, NystromSpace, Points, objective

DRAWS = np.random.default_rng(2)
ROWS = DRAWS.normal(size=(60, 4))
LABELS = np.where(ROWS[:, 0] + DRAWS.normal(size=60) > 0, 1, -1)
COSTS = DRAWS.uniform(0.5, 5, size=60)
FRESH = DRAWS.normal(size=(20, 4))


def nystrom(components, gamma=0.3):
    return NystromSpace(Kernel(gamma), ROWS, components, np.random.default_rng(3))


def random_shares(n_points=25):
    """Points of which some are rows and some are blends."""
    shares = np.zeros((n_points, 60))
    for point in range(n_points):
        rows = DRAWS.choice(60, size=DRAWS.choice([1, 1, 4]), replace=False)
        shares[point, rows] = 1 / len(rows)
    return shares


@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_no_plane_costs_less_than_the_exact_one(gamma):
    points = Points(LABELS, COSTS)
    plane = ExactSpace(Kernel(gamma), ROWS).separate(points)
    multipliers = plane.coefficients * LABELS
    assert (multipliers >= 0).all()
    assert (multipliers <= COSTS * (1 + 1e-9)).all()
    assert plane.coefficients.sum() == pytest.approx(0, abs=1e-6)
    kernel = ROWS @ ROWS.T if gamma == 0 else rbf_kernel(ROWS, gamma=gamma)
    bound = multipliers.sum() - 0.5 * plane.coefficients @ kernel @ plane.coefficients  # the dual: below every plane
    assert objective(plane, points) == pytest.approx(bound, rel=1e-6)


def test_objective_is_half_the_squared_norm_plus_the_cost_of_errors():
    plane = ExactSpace(Kernel(0.0), ROWS).separate(Points(LABELS, COSTS))
    normal = plane.coefficients @ ROWS
    errors = np.maximum(0, 1 - LABELS * (ROWS @ normal + plane.intercept))
    expected = 0.5 * normal @ normal + COSTS @ errors
    assert objective(plane, Points(LABELS, COSTS)) == pytest.approx(expected, rel=1e-12)


def test_the_intercept_is_the_best_of_all():
    for costs in (COSTS, np.ones(60)):
        points = Points(LABELS, costs)
        plane = ExactSpace(Kernel(0.3), ROWS).separate(points)
        products = plane.scores - plane.intercept
        others = [plane._replace(scores=products + kink) for kink in LABELS - products]
        assert objective(plane, points) <= min(objective(other, points) for other in others) * (1 + 1e-12)


def test_among_intercepts_that_are_as_good_the_middle_is_taken():
    rows = np.array([[-3.0], [-2.5], [2.5], [3.0]])
    plane = ExactSpace(Kernel(0.0), rows).separate(Points(np.array([-1, -1, 1, 1]), np.full(4, 1e-3)))
    assert plane.intercept == pytest.approx(0)


@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_blends_are_points_of_the_space_of_the_kernel(gamma):
    shares, labels = random_shares(), np.repeat([-1, 1], [13, 12])
    costs = np.full(25, 2.0)
    kernel = ROWS @ ROWS.T if gamma == 0 else rbf_kernel(ROWS, gamma=gamma)
    machine = SVC(kernel="precomputed", C=2.0, tol=1e-9).fit(shares @ kernel @ shares.T, labels)
    plane = ExactSpace(Kernel(gamma), ROWS).separate(Points(labels, costs, csr_array(shares)))
    np.testing.assert_allclose(plane.scores, machine.decision_function(kernel @ shares.T), atol=1e-5)
    scores_of_points = Points(labels, costs, csr_array(shares)).scores(plane.scores)
    np.testing.assert_allclose(scores_of_points, machine.decision_function(shares @ kernel @ shares.T), atol=1e-5)


def test_the_kernel_between_points_is_right_after_every_change():
    values = rbf_kernel(ROWS)
    between, shares = Between(values), random_shares()
    for _ in range(5):
        np.testing.assert_allclose(between.points(csr_array(shares)), shares @ values @ shares.T, atol=1e-14)
        changed = DRAWS.choice(25, size=6, replace=False)
        shares[changed] = random_shares()[changed]
    np.testing.assert_array_equal(between.points(None), values)


@pytest.mark.parametrize("space", [ExactSpace(Kernel(0.3), ROWS), ExactSpace(Kernel(0.0), ROWS), nystrom(20)])
def test_the_function_of_rows_agrees_with_the_plane(space):
    plane = space.separate(Points(LABELS, COSTS))
    np.testing.assert_allclose(space.function(plane)(ROWS), plane.scores, atol=1e-10)


def test_with_every_row_a_landmark_the_features_are_exact():
    space = nystrom(60)
    np.testing.assert_allclose(space.features @ space.features.T, rbf_kernel(ROWS, gamma=0.3), atol=1e-8)
    np.testing.assert_array_equal(nystrom(1000).features, space.features)


def test_landmarks_that_are_alike_do_no_harm():
    rows = np.repeat(ROWS[:6], 10, axis=0)
    space = NystromSpace(Kernel(0.3), rows, 60, np.random.default_rng(3))
    assert space.features.shape == (60, 6)
    np.testing.assert_allclose(space.features @ space.features.T, rbf_kernel(rows, gamma=0.3))


def test_no_plane_near_the_approximate_one_costs_less():
    space, points = nystrom(15), Points(LABELS, COSTS)
    plane = space.separate(points)
    normal = np.linalg.lstsq(space.whitening, plane.coefficients, rcond=None)[0]

    def cost(normal, intercept):
        errors = np.maximum(0, 1 - LABELS * (space.features @ normal + intercept))
        return 0.5 * (normal @ normal + intercept**2) + COSTS @ errors

    least = cost(normal, plane.intercept)
    assert objective(plane, points) == pytest.approx(least, rel=1e-9)
    for size in (1e-3, 1e-2, 1e-1, 1.0):
        for _ in range(50):
            moved = cost(normal + size * DRAWS.normal(size=normal.shape), plane.intercept + size * DRAWS.normal())
            assert moved >= least * (1 - 1e-3)


def test_approximate_planes_of_blends_are_those_of_the_blended_features():
    shares, labels = random_shares(), np.repeat([-1, 1], [13, 12])
    space = nystrom(20)
    plane = space.separate(Points(labels, np.ones(25), csr_array(shares)))
    blended = NystromSpace.__new__(NystromSpace)
    blended.whitening, blended.features, blended.seed = space.whitening, shares @ space.features, space.seed
    np.testing.assert_allclose(blended.separate(Points(labels, np.ones(25))).intercept, plane.intercept, rtol=1e-6)


def test_an_exact_kernel_too_large_for_memory_is_refused(monkeypatch):
    monkeypatch.setattr(planes, "MOST_ROWS", 59)
    with pytest.raises(InputError, match=r"60 instances .* components=500"):
        ExactSpace(Kernel(0.3), ROWS)
