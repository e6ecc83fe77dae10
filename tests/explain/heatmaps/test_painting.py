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


def test_a_tile_outside_the_image_is_named():
    for corner in ([42, 0], [0, 22], [-1, 0]):
        with pytest.raises(InputError, match=r"tile 1 at .* of side 9 does not lie in the image of 50 × 30 pixels"):
            cut_patches(np.zeros((30, 50, 3), np.uint8), np.array([[0, 0], corner]), 9)
