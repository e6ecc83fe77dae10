import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.explain.heatmaps import overlay
from bagwise.explain.heatmaps.overlay import cut_patches, overlay_map, paint_patches
from bagwise.explain.heatmaps.raster import Heatmap
from bagwise.explain.heatmaps.scales import apply_colours, choose_colour_map

COLOURS = choose_colour_map(signed=False)


@pytest.fixture
def image():
    return np.random.default_rng(0).integers(0, 256, (12, 9, 3), dtype=np.uint8)


@pytest.fixture
def heatmap():
    values = np.random.default_rng(1).random((12, 9)).astype(np.float32)
    values[3:5] = np.nan
    return Heatmap(values, (0, 0), 1.0)


@pytest.mark.parametrize("opacity", [0.0, 0.3, 1.0])
def test_overlay_map_blends_by_opacity_and_keeps_the_image_elsewhere(image, heatmap, opacity, monkeypatch):
    monkeypatch.setattr(overlay, "PIXELS_AT_ONCE", 20)  # two rows per step
    found = overlay_map(image, heatmap, COLOURS, opacity)
    expected = np.rint((1 - opacity) * image + opacity * apply_colours(heatmap.values, COLOURS)).astype(np.uint8)
    expected[3:5] = image[3:5]
    np.testing.assert_array_equal(found, expected)


def test_overlay_map_shows_the_image_below_the_threshold(image, heatmap):
    found = overlay_map(image, heatmap, COLOURS, 1.0, threshold=0.6)
    visible = heatmap.values >= 0.6
    np.testing.assert_array_equal(found[~visible], image[~visible])
    np.testing.assert_array_equal(found[visible], apply_colours(heatmap.values, COLOURS)[visible])


def test_overlay_map_compares_the_magnitude_of_signed_values():
    values = np.array([[-0.9, -0.1, 0.1, 0.9]], dtype=np.float32)
    found = overlay_map(
        np.zeros((1, 4, 3), np.uint8), Heatmap(values, (0, 0), 1.0), choose_colour_map(True), 1.0, threshold=0.5
    )
    assert found.any(axis=2).tolist() == [[True, False, False, True]]
    assert found[0, 0, 2] > found[0, 0, 0]
    assert found[0, 3, 0] > found[0, 3, 2]


def test_overlay_map_rejects_wrong_shapes_and_opacities(image, heatmap):
    with pytest.raises(InputError, match=r"image has shape \(11, 9, 3\), but the map has shape \(12, 9\)"):
        overlay_map(image[:-1], heatmap, COLOURS)
    with pytest.raises(InputError, match=r"opacity must be between 0 .* and 1 .*, got 1\.5"):
        overlay_map(image, heatmap, COLOURS, 1.5)


def test_paint_patches_multiplies_patches_by_their_factors():
    patches = np.full((2, 9, 9, 3), 200, np.uint8)
    canvas = paint_patches(patches, np.array([[0, 0], [30, 5]]), np.array([0.0, 0.5]), width=50, height=20)
    assert canvas.shape == (20, 50, 3)
    assert (canvas[5:14, 30:39] == 100).all()
    canvas[5:14, 30:39] = 0
    assert (canvas == 0).all()


def test_paint_patches_shows_the_largest_factor_of_overlapping_patches():
    patches = np.full((2, 9, 9, 3), 200, np.uint8)
    for factors in ([1.0, 0.1], [0.1, 1.0]):
        assert paint_patches(patches, np.array([[0, 0], [5, 5]]), np.array(factors), 20, 20)[6, 6, 0] == 200


def test_cut_patches_and_paint_patches_round_trip():
    image = np.random.default_rng(0).integers(0, 256, (30, 50, 3), dtype=np.uint8)
    corners = np.array([[0, 0], [41, 21], [7, 12]])
    canvas = paint_patches(cut_patches(image, corners, 9), corners, np.ones(3), 50, 30)
    painted = canvas.any(axis=2)
    np.testing.assert_array_equal(canvas[painted], image[painted])
    assert (canvas[21:30, 41:50] == image[21:30, 41:50]).all()


def test_cut_patches_names_the_tile_outside_the_image():
    for corner in ([50, 0], [0, 30], [-1, 0]):
        with pytest.raises(InputError, match=r"tile 1 at .* is outside the slide of 50 × 30"):
            cut_patches(np.zeros((30, 50, 3), np.uint8), np.array([[0, 0], corner]), 9)


def test_cut_patches_pads_with_white_and_paint_patches_clips():
    image = np.full((30, 50, 3), 80, np.uint8)
    patch = cut_patches(image, np.array([[45, 25]]), 9)
    assert (patch[0, :5, :5] == 80).all()
    assert (patch[0, 5:] == 255).all()
    assert (patch[0, :, 5:] == 255).all()
    canvas = paint_patches(patch, np.array([[45, 25]]), np.ones(1), 50, 30)
    assert (canvas[25:, 45:] == 80).all()
    assert canvas.sum() == 5 * 5 * 3 * 80


def test_cut_patches_rounds_positions_to_the_nearest_pixel():
    image = np.arange(30 * 50 * 3, dtype=np.uint16).reshape(30, 50, 3).astype(np.uint8)
    near = cut_patches(image, np.array([[3.7, 4.2]]), 9)
    np.testing.assert_array_equal(near[0], image[4:13, 4:13])
