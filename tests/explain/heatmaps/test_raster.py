"""A pixel is the mean over the tiles on it; maps are compared with a plain loop in float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from bagwise.errors import InputError
from bagwise.explain.heatmaps import raster
from bagwise.explain.heatmaps.raster import rasterise
from bagwise.explain.heatmaps.window import make_window

SLIDE = (300, 200)


def make_tiles(seed, count=40, size=20.0, whole=True):
    rng = np.random.default_rng(seed)
    positions = rng.uniform(0, np.array(SLIDE) - 1, (count, 2))
    return rng.normal(size=count), np.floor(positions) if whole else positions, size


def rasterise_by_loop(values, positions, size, window):
    """Return the raster, computed by a loop over pixels and tiles."""
    result = np.full((window.rows, window.columns), np.nan)
    for row in range(window.rows):
        for column in range(window.columns):
            left, top = window.x + column * window.downsample, window.y + row * window.downsample
            total = area = 0.0
            for value, (x, y) in zip(values, positions, strict=True):
                across = min(x + size, left + window.downsample) - max(x, left)
                down = min(y + size, top + window.downsample) - max(y, top)
                shared = max(across, 0) * max(down, 0)
                total, area = total + shared * value, area + shared
            if area > 0:
                result[row, column] = total / area
    return result


@pytest.mark.parametrize(
    ("downsample", "size"),
    [(7, 20.0), (10, 31.4), (7.3, 20.0), (13.37, 31.4), (20, 20.0), (45.5, 31.4), (400, 20.0)],
)
def test_rasterise_averages_overlapping_tiles_by_area(downsample, size):
    values, positions, _ = make_tiles(1)
    window = make_window(SLIDE, downsample)
    found = rasterise(values, positions, size, window).values
    np.testing.assert_allclose(found, rasterise_by_loop(values, positions, size, window), rtol=1e-6, atol=1e-7)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 999),
    downsample=st.floats(9, 60),
    size=st.floats(1, 90),
    region=st.sampled_from([None, (17, 31, 101, 53), (250, 150, 50, 50)]),
)
def test_rasterise_any_tiles_in_any_region(seed, downsample, size, region):
    values, positions, _ = make_tiles(seed, count=12, whole=False)
    window = make_window(SLIDE, downsample, region)
    found, expected = rasterise(values, positions, size, window), rasterise_by_loop(values, positions, size, window)
    both = np.isfinite(found.values) & np.isfinite(expected)
    np.testing.assert_allclose(found.values[both], expected[both], rtol=1e-5, atol=1e-5)
    assert (np.isfinite(found.values) != np.isfinite(expected)).sum() <= 1, (
        "they differ at most where a tile only touches a pixel"
    )
    assert found.origin == (window.x, window.y)


def test_rasterise_does_not_depend_on_the_size_of_strips(monkeypatch):
    values, positions, size = make_tiles(2)
    window = make_window(SLIDE, 3.7)
    whole = rasterise(values, positions, size, window).values
    monkeypatch.setattr(raster, "PIXELS_AT_ONCE", 500)
    monkeypatch.setattr(raster, "VALUES_AT_ONCE", 30)
    np.testing.assert_allclose(rasterise(values, positions, size, window).values, whole, rtol=1e-6)


def test_rasterise_reproduces_a_grid_of_tiles():
    values = np.arange(12.0)
    y, x = np.divmod(np.arange(12), 4)
    found = rasterise(values, np.stack([x, y], axis=1) * 32, 32, make_window((200, 100), 16)).values
    expected = np.kron(values.reshape(3, 4), np.ones((2, 2)))
    np.testing.assert_array_equal(found[:6, :8], expected)
    assert np.isnan(found[6:]).all()
    assert np.isnan(found[:, 8:]).all()


def test_rasterise_clips_a_tile_at_the_border():
    found = rasterise(np.ones(1), np.array([[290, 190]]), 20, make_window(SLIDE, 5)).values
    assert np.isfinite(found[-2:, -2:]).all()
    assert np.isfinite(found).sum() == 4


def test_rasterise_keeps_the_digits_of_the_smallest_weight():
    values = np.array([1.0, 1e-30, 2e-30])
    positions = np.array([[0, 0], [100, 0], [110, 0]])
    found = rasterise(values, positions, 20, make_window(SLIDE, 10)).values
    np.testing.assert_allclose(found[0, 10:13], [1e-30, 1.5e-30, 2e-30], rtol=1e-6)


@pytest.mark.parametrize("blur", [0.0, 4.0, 25.0])
def test_rasterise_of_a_region_is_that_region_of_the_map(blur):
    values, positions, size = make_tiles(3)
    whole = rasterise(values, positions, size, make_window(SLIDE, 5), blur).values
    part = rasterise(values, positions, size, make_window(SLIDE, 5, (50, 25, 120, 100)), blur)
    np.testing.assert_allclose(part.values, whole[5:25, 10:34], rtol=1e-5, atol=1e-6)


def test_rasterise_blurs_over_existing_tiles_only():
    values, positions, size = make_tiles(4)
    positions = np.minimum(positions, np.array(SLIDE) - size)  # otherwise pixels outside the slide would contribute
    window = make_window(SLIDE, 4)
    sharp = rasterise(values, positions, size, window).values.astype(np.float64)
    present = np.isfinite(sharp)
    sums = ndimage.gaussian_filter(np.where(present, sharp, 0), 3, mode="constant")
    areas = ndimage.gaussian_filter(present.astype(float), 3, mode="constant")
    soft = rasterise(values, positions, size, window, blur=12).values
    np.testing.assert_allclose(soft[present], sums[present] / areas[present], rtol=1e-4, atol=1e-5)
    assert np.isnan(soft[~present]).all()
    flat = rasterise(np.full(len(values), 0.3), positions, size, window, blur=12).values
    np.testing.assert_allclose(flat[present], 0.3, rtol=1e-5)


def test_rasterise_rejects_inconsistent_input():
    window = make_window(SLIDE, 5)
    with pytest.raises(InputError, match=r"positions must have shape \(2, 2\), one x, y per tile"):
        rasterise(np.ones(2), np.zeros((3, 2)), 20, window)
    with pytest.raises(InputError, match="the value of tile 1 is nan"):
        rasterise(np.array([1.0, np.nan]), np.zeros((2, 2)), 20, window)
    with pytest.raises(InputError, match=r"tile 1 at \(150, 250\) is outside the slide of 300 × 200"):
        rasterise(np.ones(2), np.array([[0, 0], [150, 250]]), 20, window)
    with pytest.raises(InputError, match="tile size is 0"):
        rasterise(np.ones(1), np.zeros((1, 2)), 0, window)
    with pytest.raises(InputError, match="Use a blur of at most 500, or a larger downsample"):
        rasterise(np.ones(1), np.zeros((1, 2)), 20, window, blur=501)
