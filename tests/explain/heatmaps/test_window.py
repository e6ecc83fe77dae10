import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.explain.heatmaps.window import LONGEST, MOST_PIXELS, check_positions, window_of


@pytest.mark.parametrize(("downsample", "shape"), [(1, (600, 1000)), (4, (150, 250)), (7.3, (83, 137)), (2000, (1, 1))])
def test_a_window_has_a_pixel_for_every_begun_square(downsample, shape):
    window = window_of((1000, 600), downsample)
    assert (window.rows, window.columns) == shape


def test_without_a_wish_small_images_keep_their_pixels_and_slides_are_reduced():
    assert window_of((500, 400)).downsample == 1
    window = window_of((100_000, 20_000))
    assert window.columns == LONGEST
    assert window.rows < window.columns


def test_a_region_lies_in_the_slide():
    window = window_of((1000, 600), 2, (100, 50, 300, 200))
    assert (window.x, window.y, window.columns, window.rows) == (100, 50, 150, 100)
    for region in ((-1, 0, 10, 10), (0, 0, 0, 10), (995, 0, 10, 10), (0, 595, 10, 10)):
        with pytest.raises(InputError, match="does not lie in the slide of 1000 × 600 level-0 pixels"):
            window_of((1000, 600), 2, region)


@pytest.mark.parametrize("downsample", [0, 0.5, -1, np.inf, np.nan])
def test_pixels_are_not_invented(downsample):
    with pytest.raises(InputError, match="at least 1"):
        window_of((1000, 600), downsample)


def test_too_large_a_picture_is_refused_with_a_downsample_that_is_not():
    with pytest.raises(
        InputError, match=r"8,000 megapixels, and 200 are the most; take a downsample of at least (\d+)"
    ):
        window_of((100_000, 80_000), 1)
    assert window_of((100_000, 80_000), 7).rows * window_of((100_000, 80_000), 7).columns <= MOST_PIXELS


def test_the_first_tile_outside_is_named():
    inside = np.array([[0, 0], [999, 599]])
    check_positions(inside, (1000, 600))
    for x, y in ((1000, 0), (0, 600), (-1, 5), (np.nan, 0)):
        with pytest.raises(InputError, match=r"tile 2 at .* lies outside the slide of 1000 × 600 level-0 pixels"):
            check_positions(np.vstack([inside, [[x, y], [5000, 5000]]]), (1000, 600))
