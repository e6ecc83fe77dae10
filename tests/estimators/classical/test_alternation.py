import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from bagwise.estimators.classical.alternation import mark_witnesses, minimize_alternately
from bagwise.estimators.classical.hyperplanes import (
    ExactSpace,
    Hyperplane,
    Kernel,
    NystromSpace,
    Space,
    compute_objective,
)
from bagwise.estimators.classical.mi_svm import InstanceLabels, Witnesses

SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 6))]


def sample_rows(seed):
    """Sample noisy rows in bags of one to six instances, half of them positive, which need many iterations."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 7, size=30)
    offsets = np.append(0, sizes.cumsum())
    rows = generator.normal(size=(offsets[-1], 3))
    rows[offsets[:15]] += 0.7
    return rows, offsets, np.repeat(np.arange(30) < 15, sizes)


def make_latents(offsets, positive):
    costs = np.full(len(positive), 2.0)
    starts = ~positive
    starts[offsets[:-1]] = True
    edges = np.append(np.flatnonzero(starts), len(positive))
    points = positive[edges[:-1]]
    return [InstanceLabels(offsets, positive, costs), Witnesses(edges, points, costs[: len(points)])]


def make_spaces(rows):
    return [
        ExactSpace(Kernel(0.4), rows),
        ExactSpace(Kernel(0.0), rows),
        NystromSpace(Kernel(0.4), rows, 25, np.random.default_rng(0)),
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_alternate_never_increases_the_objective_and_ends_with_the_best_assignment(seed):
    rows, offsets, positive = sample_rows(seed)
    for space in make_spaces(rows):
        for latent in make_latents(offsets, positive):
            descent = minimize_alternately(space, latent, max_fits=100)
            assert descent.converged
            assert (np.diff(descent.objectives) <= 0).all()
            assert descent.objectives[-1] == compute_objective(descent.plane, latent.make_points(descent.assignment))
            np.testing.assert_array_equal(
                latent.best_assignment(space.make_function(descent.plane)(rows)), descent.assignment
            )


def test_alternate_records_the_objective_of_every_plane_and_assignment():
    rows, offsets, positive = sample_rows(0)
    kernel = rbf_kernel(rows, gamma=0.4)
    for latent in make_latents(offsets, positive):
        objectives = minimize_alternately(ExactSpace(Kernel(0.4), rows), latent, max_fits=100).objectives
        assert len(objectives) > 2
        for max_fits in range(1, len(objectives) + 1):
            descent = minimize_alternately(ExactSpace(Kernel(0.4), rows), latent, max_fits=max_fits)
            np.testing.assert_allclose(descent.objectives, objectives[:max_fits], rtol=1e-12)
            assert descent.converged == (max_fits == len(objectives))
            points, coefficients = latent.make_points(descent.assignment), descent.plane.coefficients
            scores = kernel @ coefficients + descent.plane.intercept
            scores = scores if points.shares is None else points.shares.toarray() @ scores
            errors = 2.0 * np.maximum(0, 1 - points.labels * scores).sum()
            assert objectives[max_fits - 1] == pytest.approx(
                0.5 * coefficients @ kernel @ coefficients + errors, rel=1e-9
            )


class BadSpace(Space):
    """A space whose planes get worse and alternate in sign, so that assignments would cycle."""

    def __init__(self, n_rows):
        self.n_rows, self.calls = n_rows, 0

    def fit_hyperplane(self, points):
        self.calls += 1
        scores = np.where(np.arange(self.n_rows) % 2 == self.calls % 2, 0.5, -0.5)
        return Hyperplane(np.zeros(self.n_rows), 0.0, 1.0 + self.calls, scores)

    def make_function(self, plane):
        raise NotImplementedError


def test_alternate_keeps_the_previous_plane_if_the_new_one_is_not_better():
    offsets = np.array([0, 4, 8])
    for latent in make_latents(offsets, np.repeat([True, False], 4)):
        space = BadSpace(8)
        descent = minimize_alternately(space, latent, max_fits=1000)
        assert space.calls == 2
        assert descent.converged
        assert descent.plane.complexity == 2.0  # of the first plane
        assert (np.diff(descent.objectives) <= 0).all()
        np.testing.assert_array_equal(latent.best_assignment(descent.plane.scores), descent.assignment)


def test_select_winners_marks_the_first_maximum_of_each_bag():
    generator = np.random.default_rng(1)
    offsets = np.append(0, generator.integers(1, 6, size=50).cumsum())
    scores = generator.integers(0, 4, size=offsets[-1]).astype(float)  # many ties
    expected = [bag.argmax() for bag in np.split(scores, offsets[1:-1])] + offsets[:-1]
    np.testing.assert_array_equal(np.flatnonzero(mark_witnesses(scores, offsets)), expected)
