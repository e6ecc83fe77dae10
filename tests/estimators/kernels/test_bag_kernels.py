import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from bagwise.bags import Bags
from bagwise.estimators.kernels import bag_kernels
from bagwise.estimators.kernels.bag_kernels import expansion, gram, norms

SIZES = (3, 1, 7, 2, 1, 12, 5)
BAGS = Bags.from_list([np.random.default_rng(size).normal(size=(size, 4)) for size in SIZES])
MASSES = np.random.default_rng(0).uniform(0.1, 3, size=BAGS.n_instances)
GAMMA = 0.3


def by_double_loop(bags, masses, gamma):
    """The definition, bag by bag and instance by instance."""
    own = np.split(masses, bags.offsets[1:-1])
    kernel = np.zeros((len(bags), len(bags)))
    for i, left in enumerate(bags):
        for j, right in enumerate(bags):
            for x, u in zip(left, own[i], strict=True):
                for other, v in zip(right, own[j], strict=True):
                    kernel[i, j] += u * v * np.exp(-gamma * ((x - other) ** 2).sum())
    return kernel


def test_the_kernel_is_the_sum_over_all_pairs_of_instances():
    expected = by_double_loop(BAGS, MASSES, GAMMA)
    np.testing.assert_allclose(gram(BAGS, MASSES, GAMMA), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("block", [1, 2, 3, 5, 8, 30, 31, 32, 1000])
def test_blocks_of_any_size_give_the_same_numbers(block):
    whole = by_double_loop(BAGS, MASSES, GAMMA)
    np.testing.assert_allclose(gram(BAGS, MASSES, GAMMA, block), whole, rtol=1e-12, atol=0)


def test_no_block_is_larger_than_asked_however_large_a_bag_is(monkeypatch):
    formed = []
    pairs = bag_kernels._pairs
    monkeypatch.setattr(bag_kernels, "_pairs", lambda *sides: formed.append(pairs(*sides)) or formed[-1])
    gram(BAGS, MASSES, GAMMA, block=5)
    expansion(BAGS.instances, MASSES, BAGS.instances, np.ones((BAGS.n_instances, 1)), GAMMA, block=5)
    assert len(formed) > 49
    assert max(max(block.shape) for block in formed) == 5


def test_the_kernel_is_symmetric_and_positive_semidefinite():
    kernel = gram(BAGS, MASSES, GAMMA)
    np.testing.assert_allclose(kernel, kernel.T, rtol=1e-13)
    assert np.linalg.eigvalsh(kernel).min() >= -1e-10


def test_far_and_equal_instances_stay_exact():
    rows = np.array([[300.0, -400.0], [300.0, -400.0], [-300.0, 400.0]])
    kernel = gram(Bags.from_list([rows[:2], rows[2:]]), np.ones(3), gamma=0.01)
    np.testing.assert_allclose(kernel, [[4, 0], [0, 1]], rtol=1e-11)


def test_the_origin_does_not_matter():
    moved = BAGS.map(lambda rows: rows + 2.0**20)
    coefficients = np.ones((BAGS.n_instances, 1))
    np.testing.assert_allclose(gram(moved, MASSES, GAMMA), gram(BAGS, MASSES, GAMMA), rtol=1e-8)
    far, near = (expansion(bags.instances, MASSES, bags.instances, coefficients, GAMMA) for bags in (moved, BAGS))
    np.testing.assert_allclose(far, near, rtol=1e-8)


def test_norms_are_the_roots_of_the_diagonal_with_masses_of_one():
    ones = np.ones(BAGS.n_instances)
    np.testing.assert_allclose(norms(BAGS, GAMMA) ** 2, by_double_loop(BAGS, ones, GAMMA).diagonal(), rtol=1e-12)


@pytest.mark.parametrize("block", [1, 4, 1024])
def test_an_expansion_is_a_sum_over_its_centers(block):
    draws = np.random.default_rng(1)
    centers, coefficients = draws.normal(size=(9, 4)), draws.normal(size=(9, 3))
    expected = MASSES[:, None] * (rbf_kernel(BAGS.instances, centers, gamma=GAMMA) @ coefficients)
    found = expansion(BAGS.instances, MASSES, centers, coefficients, GAMMA, block)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
