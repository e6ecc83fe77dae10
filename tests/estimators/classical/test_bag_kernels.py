import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from bagwise.bags.bags import Bags
from bagwise.estimators.classical import bag_kernels
from bagwise.estimators.classical.bag_kernels import compute_gram_matrix, compute_norms, expand_kernel

SIZES = (3, 1, 7, 2, 1, 12, 5)
BAGS = Bags.from_list([np.random.default_rng(size).normal(size=(size, 4)) for size in SIZES])
MASSES = np.random.default_rng(0).uniform(0.1, 3, size=BAGS.n_instances)
GAMMA = 0.3


def compute_by_loops(bags, masses, gamma):
    """Compute the kernel from its definition."""
    bag_masses = np.split(masses, bags.offsets[1:-1])
    kernel = np.zeros((len(bags), len(bags)))
    for i, left in enumerate(bags):
        for j, right in enumerate(bags):
            for x, u in zip(left, bag_masses[i], strict=True):
                for other, v in zip(right, bag_masses[j], strict=True):
                    kernel[i, j] += u * v * np.exp(-gamma * ((x - other) ** 2).sum())
    return kernel


def test_compute_gram_matrix_sums_over_all_pairs_of_instances():
    expected = compute_by_loops(BAGS, MASSES, GAMMA)
    np.testing.assert_allclose(compute_gram_matrix(BAGS, MASSES, GAMMA), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("block", [1, 2, 5, 30, 31, 32, 1000])
def test_compute_gram_matrix_does_not_depend_on_the_block_size(block):
    whole = compute_by_loops(BAGS, MASSES, GAMMA)
    np.testing.assert_allclose(compute_gram_matrix(BAGS, MASSES, GAMMA, block), whole, rtol=1e-12, atol=0)


def test_blocks_are_not_larger_than_requested_for_any_bag_size(monkeypatch):
    blocks = []
    compute_pairs = bag_kernels._compute_pairs
    monkeypatch.setattr(
        bag_kernels, "_compute_pairs", lambda *sides: blocks.append(compute_pairs(*sides)) or blocks[-1]
    )
    compute_gram_matrix(BAGS, MASSES, GAMMA, block=5)
    expand_kernel(BAGS.instances, MASSES, BAGS.instances, np.ones((BAGS.n_instances, 1)), GAMMA, block=5)
    assert len(blocks) > 49
    assert max(max(block.shape) for block in blocks) == 5


def test_compute_gram_matrix_is_symmetric_and_positive_semidefinite():
    kernel = compute_gram_matrix(BAGS, MASSES, GAMMA)
    np.testing.assert_allclose(kernel, kernel.T, rtol=1e-13)
    assert np.linalg.eigvalsh(kernel).min() >= -1e-10


def test_compute_gram_matrix_is_exact_for_distant_and_equal_instances():
    rows = np.array([[300.0, -400.0], [300.0, -400.0], [-300.0, 400.0]])
    kernel = compute_gram_matrix(Bags.from_list([rows[:2], rows[2:]]), np.ones(3), gamma=0.01)
    np.testing.assert_allclose(kernel, [[4, 0], [0, 1]], rtol=1e-11)


def test_kernels_are_translation_invariant():
    shifted = BAGS.map(lambda rows: rows + 2.0**20)
    coefficients = np.ones((BAGS.n_instances, 1))
    np.testing.assert_allclose(
        compute_gram_matrix(shifted, MASSES, GAMMA), compute_gram_matrix(BAGS, MASSES, GAMMA), rtol=1e-8
    )
    from_shifted, from_plain = (
        expand_kernel(bags.instances, MASSES, bags.instances, coefficients, GAMMA) for bags in (shifted, BAGS)
    )
    np.testing.assert_allclose(from_shifted, from_plain, rtol=1e-8)


def test_compute_norms_is_the_square_root_of_the_diagonal_with_masses_of_one():
    ones = np.ones(BAGS.n_instances)
    np.testing.assert_allclose(
        compute_norms(BAGS, GAMMA) ** 2, compute_by_loops(BAGS, ones, GAMMA).diagonal(), rtol=1e-12
    )


@pytest.mark.parametrize("block", [1, 4, 1024])
def test_expand_kernel_sums_over_its_centers(block):
    generator = np.random.default_rng(1)
    centers, coefficients = generator.normal(size=(9, 4)), generator.normal(size=(9, 3))
    expected = MASSES[:, None] * (rbf_kernel(BAGS.instances, centers, gamma=GAMMA) @ coefficients)
    found = expand_kernel(BAGS.instances, MASSES, centers, coefficients, GAMMA, block)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
