import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.explain.heatmaps.painting import cut_patches, paint


def test_patches_are_painted_where_they_were_cut_from_times_their_factor():
    patches = np.full((2, 9, 9, 3), 200, np.uint8)
    canvas = paint(patches, np.array([[0, 0], [30, 5]]), np.array([0.0, 0.5]), width=50, height=20)
    assert canvas.shape == (20, 50, 3)
    assert (canvas[5:14, 30:39] == 100).all()
    canvas[5:14, 30:39] = 0
    assert (canvas == 0).all()


def test_of_two_patches_that_overlap_the_one_of_the_greater_factor_is_seen():
    patches = np.full((2, 9, 9, 3), 200, np.uint8)
    for factors in ([1.0, 0.1], [0.1, 1.0]):
        assert paint(patches, np.array([[0, 0], [5, 5]]), np.array(factors), 20, 20)[6, 6, 0] == 200


def test_what_is_cut_and_painted_with_ones_is_the_image_again():
    image = np.random.default_rng(0).integers(0, 256, (30, 50, 3), dtype=np.uint8)
    corners = np.array([[0, 0], [41, 21], [7, 12]])
    canvas = paint(cut_patches(image, corners, 9), corners, np.ones(3), 50, 30)
    painted = canvas.any(axis=2)
    np.testing.assert_array_equal(canvas[painted], image[painted])
    assert (canvas[21:30, 41:50] == image[21:30, 41:50]).all()


def test_a_tile_that_begins_outside_the_image_is_named():
    for corner in ([50, 0], [0, 30], [-1, 0]):
        with pytest.raises(InputError, match=r"tile 1 at .* lies outside the slide of 50 × 30"):
            cut_patches(np.zeros((30, 50, 3), np.uint8), np.array([[0, 0], corner]), 9)


def test_a_tile_that_reaches_over_the_border_is_filled_up_and_painted_as_far_as_it_goes():
    image = np.full((30, 50, 3), 80, np.uint8)
    patch = cut_patches(image, np.array([[45, 25]]), 9)
    assert (patch[0, :5, :5] == 80).all()
    assert (patch[0, 5:] == 255).all()
    assert (patch[0, :, 5:] == 255).all()
    canvas = paint(patch, np.array([[45, 25]]), np.ones(1), 50, 30)
    assert (canvas[25:, 45:] == 80).all()
    assert canvas.sum() == 5 * 5 * 3 * 80


def test_positions_between_two_pixels_mean_the_nearest():
    image = np.arange(30 * 50 * 3, dtype=np.uint16).reshape(30, 50, 3).astype(np.uint8)
    near = cut_patches(image, np.array([[3.7, 4.2]]), 9)
    np.testing.assert_array_equal(near[0], image[4:13, 4:13])
