import numpy as np
import pytest
import torch
from torch.nn import functional

pytest.importorskip("numba")
from numba import njit

from bagwise.training.fused.stages import LANES, VECTORS
from bagwise.training.fused.tiles import add_products, tile

MAPS = 2 * LANES
two_vectors = tile(2)


@njit
def pooled(image, window, weights, values, winners):
    two_vectors(image, window, weights, 0, MAPS, values, winners, 0)


@njit
def products(total, start, to, rows, of, first, factors, begins, count):
    add_products(total, start, to, rows, of, first, factors, begins, count)


def pool(image, kernel, bias):
    """One pooled position of an image (4, 5, 2), whose window is 3 × 3."""
    weights = np.vstack([bias, kernel.reshape(MAPS, -1).T]).ravel()
    values, winners = np.zeros(MAPS), np.zeros(MAPS, np.uint8)
    pooled(image.ravel(), (0, 2, 10, 3, 6), weights, values, winners)
    return values, winners


def problem():
    generator = np.random.default_rng(0)
    return generator.normal(size=(4, 5, 2)), generator.normal(size=(MAPS, 3, 3, 2)), generator.normal(size=MAPS)


def test_a_tile_is_convolution_max_pooling_and_relu():
    image, kernel, bias = problem()
    planes = torch.from_numpy(image).permute(2, 0, 1)[None]
    outputs = functional.conv2d(planes, torch.from_numpy(kernel).permute(0, 3, 1, 2), torch.from_numpy(bias))[..., :2]
    highest, places = functional.max_pool2d(outputs, 2, return_indices=True)
    values, winners = pool(image, kernel, bias)
    np.testing.assert_allclose(values, highest.relu().numpy().ravel(), rtol=1e-12)
    np.testing.assert_array_equal(winners, places.numpy().ravel())
    assert set(winners) == {0, 1, 2, 3}
    assert (values == 0).any()


def test_the_first_of_equals_wins():
    image, kernel, bias = problem()
    assert pool(np.ones_like(image), kernel, bias)[1].tolist() == [0] * MAPS


@pytest.mark.parametrize("place", [(0, 0, 0), (3, 3, 1)])
def test_nan_is_higher_than_all(place):
    image, kernel, bias = problem()
    image[place] = np.nan
    assert np.isnan(pool(image, kernel, bias)[0]).all()


def test_products_are_added_where_the_offsets_say():
    generator = np.random.default_rng(1)
    rows, total = generator.normal(size=300), generator.normal(size=200)
    to = np.append(99, generator.permutation(VECTORS) * (LANES + 2))
    of = np.append(99, generator.integers(0, 100, VECTORS))
    factors, begins = generator.normal(size=5), generator.integers(0, 150, 5)
    expected = total.copy()
    for n in range(1, VECTORS + 1):
        for factor, begin in zip(factors[:4], begins[:4], strict=True):
            expected[3 + to[n] : 3 + to[n] + LANES] += factor * rows[begin + of[n] : begin + of[n] + LANES]
    products(total, 3, to, rows, of, 1, factors, begins, 4)
    np.testing.assert_allclose(total, expected, rtol=1e-12)
