import numpy as np
import pytest
import torch
from torch.nn import functional

pytest.importorskip("numba")

from numba import njit

from bagwise.training.engines.fused.conv_tables import LANES, VECTORS
from bagwise.training.engines.fused.simd import add_products, make_conv_tile, sigmoid_row, tanh_row

MAPS = 2 * LANES

convolve_two_vectors = make_conv_tile(2)


@njit
def call_conv_tile(image, window, weights, maps, winners):
    convolve_two_vectors(image, window, weights, 0, MAPS, maps, winners, 0)


def convolve_position(image, kernel, bias):
    """Compute one pooled position of an image of shape (4, 5, 2) with a kernel of 3 × 3."""
    weights = np.vstack([bias, kernel.reshape(MAPS, -1).T]).ravel()
    maps, winners = np.zeros(MAPS), np.zeros(MAPS, np.uint8)
    call_conv_tile(image.ravel(), (0, 2, 10, 3, 6), weights, maps, winners)
    return maps, winners


def make_image_and_kernel():
    generator = np.random.default_rng(0)
    return generator.normal(size=(4, 5, 2)), generator.normal(size=(MAPS, 3, 3, 2)), generator.normal(size=MAPS)


def test_make_conv_tile_computes_convolution_max_pooling_and_relu():
    image, kernel, bias = make_image_and_kernel()
    planes = torch.from_numpy(image).permute(2, 0, 1)[None]
    outputs = functional.conv2d(planes, torch.from_numpy(kernel).permute(0, 3, 1, 2), torch.from_numpy(bias))[..., :2]
    maxima, indices = functional.max_pool2d(outputs, 2, return_indices=True)
    maps, winners = convolve_position(image, kernel, bias)
    np.testing.assert_allclose(maps, maxima.relu().numpy().ravel(), rtol=1e-12)
    np.testing.assert_array_equal(winners, indices.numpy().ravel())
    assert set(winners) == {0, 1, 2, 3}
    assert (maps == 0).any()


def test_make_conv_tile_selects_the_first_of_equal_values():
    image, kernel, bias = make_image_and_kernel()
    assert convolve_position(np.ones_like(image), kernel, bias)[1].tolist() == [0] * MAPS


@pytest.mark.parametrize("pixel", [(0, 0, 0), (3, 3, 1)])
def test_make_conv_tile_returns_nan_if_a_pixel_is_nan(pixel):
    image, kernel, bias = make_image_and_kernel()
    image[pixel] = np.nan
    assert np.isnan(convolve_position(image, kernel, bias)[0]).all()


@njit
def call_add_products(total, start, target_offsets, rows, source_offsets, first, factors, row_starts, count):
    add_products(total, start, target_offsets, rows, source_offsets, first, factors, row_starts, count)


def test_add_products_adds_at_the_offsets():
    generator = np.random.default_rng(1)
    rows, total = generator.normal(size=300), generator.normal(size=200)
    targets = np.append(99, generator.permutation(VECTORS) * (LANES + 2))
    sources = np.append(99, generator.integers(0, 100, VECTORS))
    factors, starts = generator.normal(size=5), generator.integers(0, 150, 5)
    expected = total.copy()
    for n in range(1, VECTORS + 1):
        for factor, start in zip(factors[:4], starts[:4], strict=True):
            source = start + sources[n]
            expected[3 + targets[n] : 3 + targets[n] + LANES] += factor * rows[source : source + LANES]
    call_add_products(total, 3, targets, rows, sources, 1, factors, starts, 4)
    np.testing.assert_allclose(total, expected, rtol=1e-12)


@njit
def call_tanh_row(values):
    tanh_row(values)


@njit
def call_sigmoid_row(values):
    sigmoid_row(values)


def make_values(dtype):
    return np.concatenate([np.linspace(-12, 12, 200_001), np.logspace(-30, 0, 20_001), [0.0]]).astype(dtype)


def test_tanh_row_in_float32_is_within_7_ulp_and_at_most_one():
    values = make_values(np.float32)
    outputs = values.copy()
    call_tanh_row(outputs)
    exact = np.tanh(values.astype(np.float64))
    assert (np.abs(outputs - exact) <= 7 * np.spacing(np.abs(exact).astype(np.float32))).all()
    assert np.abs(outputs).max() <= 1


def test_tanh_row_in_float64_matches_numpy():
    values = make_values(np.float64)
    outputs = values.copy()
    call_tanh_row(outputs)
    np.testing.assert_allclose(outputs, np.tanh(values), rtol=1e-15)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 3e-7), (np.float64, 3e-16)])
def test_sigmoid_row_matches_its_formula(dtype, tolerance):
    values = make_values(dtype)
    outputs = values.copy()
    call_sigmoid_row(outputs)
    np.testing.assert_allclose(outputs, 1 / (1 + np.exp(-values.astype(np.float64))), rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tanh_row_preserves_nan_and_saturates_for_infinities(dtype):
    values = np.array([np.nan, np.inf, -np.inf], dtype)
    call_tanh_row(values)
    assert np.isnan(values[0])
    np.testing.assert_allclose(values[1:], [1, -1], atol=3e-7)
