import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from bagwise.estimators.svm.alternation import alternate, winners
from bagwise.estimators.svm.instance_svm import InstanceLabels
from bagwise.estimators.svm.kernel_expansion import Kernel
from bagwise.estimators.svm.planes import ExactSpace, NystromSpace, Plane, Space, objective
from bagwise.estimators.svm.witness_svm import Witnesses

SEEDS = range(6)


def draw(seed):
    """Noisy rows in bags of one to six, half of them positive: many rounds until the guess stands."""
    draws = np.random.default_rng(seed)
    sizes = draws.integers(1, 7, size=30)
    offsets = np.append(0, sizes.cumsum())
    rows = draws.normal(size=(offsets[-1], 3))
    rows[offsets[:15]] += 0.7
    return rows, offsets, np.repeat(np.arange(30) < 15, sizes)


def unknowns(offsets, positive):
    costs = np.full(len(positive), 2.0)
    starts = ~positive
    starts[offsets[:-1]] = True
    edges = np.append(np.flatnonzero(starts), len(positive))
    points = positive[edges[:-1]]
    return [InstanceLabels(offsets, positive, costs), Witnesses(edges, points, costs[: len(points)])]


def spaces(rows):
    return [
        ExactSpace(Kernel(0.4), rows),
        ExactSpace(Kernel(0.0), rows),
        NystromSpace(Kernel(0.4), rows, 25, np.random.default_rng(0)),
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_objective_never_rises_and_the_guess_is_the_best_one_in_the_end(seed):
    rows, offsets, positive = draw(seed)
    for space in spaces(rows):
        for unknown in unknowns(offsets, positive):
            descent = alternate(space, unknown, most=100)
            assert descent.converged
            assert (np.diff(descent.objectives) <= 0).all()
            assert descent.objectives[-1] == objective(descent.plane, unknown.points(descent.guess))
            np.testing.assert_array_equal(unknown.best(space.function(descent.plane)(rows)), descent.guess)


def test_the_objective_of_every_round_is_that_of_its_plane_and_guess():
    rows, offsets, positive = draw(0)
    kernel = rbf_kernel(rows, gamma=0.4)
    for unknown in unknowns(offsets, positive):
        whole = alternate(ExactSpace(Kernel(0.4), rows), unknown, most=100).objectives
        assert len(whole) > 2
        for rounds in range(1, len(whole) + 1):
            descent = alternate(ExactSpace(Kernel(0.4), rows), unknown, most=rounds)
            np.testing.assert_allclose(descent.objectives, whole[:rounds], rtol=1e-12)
            assert descent.converged == (rounds == len(whole))
            points, coefficients = unknown.points(descent.guess), descent.plane.coefficients
            scores = kernel @ coefficients + descent.plane.intercept
            scores = scores if points.shares is None else points.shares.toarray() @ scores
            errors = 2.0 * np.maximum(0, 1 - points.labels * scores).sum()
            assert whole[rounds - 1] == pytest.approx(0.5 * coefficients @ kernel @ coefficients + errors, rel=1e-9)


class Careless(Space):
    """Gives one bad plane after another, with ever other signs: guesses would go round in circles."""

    def __init__(self, n_rows):
        self.n_rows, self.calls = n_rows, 0

    def separate(self, points):
        self.calls += 1
        scores = np.where(np.arange(self.n_rows) % 2 == self.calls % 2, 0.5, -0.5)
        return Plane(np.zeros(self.n_rows), 0.0, 1.0 + self.calls, scores)

    def function(self, plane):
        raise NotImplementedError


def test_a_plane_that_is_no_better_is_not_taken_so_there_are_no_cycles():
    offsets = np.array([0, 4, 8])
    for unknown in unknowns(offsets, np.repeat([True, False], 4)):
        space = Careless(8)
        descent = alternate(space, unknown, most=1000)
        assert space.calls == 2
        assert descent.converged
        assert descent.plane.complexity == 2.0  # the first one
        assert (np.diff(descent.objectives) <= 0).all()
        np.testing.assert_array_equal(unknown.best(descent.plane.scores), descent.guess)


def test_winners_are_the_first_of_the_greatest_of_each_bag():
    draws = np.random.default_rng(1)
    offsets = np.append(0, draws.integers(1, 6, size=50).cumsum())
    scores = draws.integers(0, 4, size=offsets[-1]).astype(float)  # many alike
    expected = [bag.argmax() for bag in np.split(scores, offsets[1:-1])] + offsets[:-1]
    np.testing.assert_array_equal(np.flatnonzero(winners(scores, offsets)), expected)
