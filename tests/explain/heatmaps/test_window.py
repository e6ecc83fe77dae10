import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.explain.heatmaps.window import DEFAULT_SIDE, MAX_PIXELS, check_positions, get_tile_grid, make_window


def test_get_tile_grid_returns_the_tiles_of_one_bag():
    positions = np.array([[1, 2], [3, 4], [5, 6]])
    bags = Bags(
        np.zeros((3, 4)),
        np.array([0, 1, 3]),
        names=np.array(["a", "b"]),
        positions=positions,
        tile_sizes=np.array([10, 20.5]),
    )
    found = get_tile_grid(bags[[1]])
    np.testing.assert_array_equal(found.positions, positions[1:])
    assert found.size == 20.5
    with pytest.raises(InputError, match="exactly one bag, got 2"):
        get_tile_grid(bags)


def test_get_tile_grid_names_the_bag_without_positions_or_tile_size():
    bare = Bags(np.zeros((3, 4)), np.array([0, 3]), names=np.array(["a"]))
    with pytest.raises(InputError, match="bag 'a' has no positions"):
        get_tile_grid(bare)
    with pytest.raises(InputError, match=r"bag 'a' has positions but no tile size; .* --patches FOLDER"):
        get_tile_grid(bare.replace(positions=np.zeros((3, 2))))


@pytest.mark.parametrize(("downsample", "shape"), [(1, (600, 1000)), (4, (150, 250)), (7.3, (83, 137)), (2000, (1, 1))])
def test_make_window_rounds_the_number_of_pixels_up(downsample, shape):
    window = make_window((1000, 600), downsample)
    assert (window.rows, window.columns) == shape


def test_make_window_by_default_downsamples_only_large_slides():
    assert make_window((500, 400)).downsample == 1
    window = make_window((100_000, 20_000))
    assert window.columns == DEFAULT_SIDE
    assert window.rows < window.columns


def test_make_window_rejects_a_region_outside_the_slide():
    window = make_window((1000, 600), 2, (100, 50, 300, 200))
    assert (window.x, window.y, window.columns, window.rows) == (100, 50, 150, 100)
    for region in ((-1, 0, 10, 10), (0, 0, 0, 10), (995, 0, 10, 10), (0, 595, 10, 10)):
        with pytest.raises(InputError, match="is not inside the slide of 1000 × 600 level-0 pixels"):
            make_window((1000, 600), 2, region)


@pytest.mark.parametrize("downsample", [0, 0.5, -1, np.inf, np.nan])
def test_make_window_rejects_a_downsample_below_one(downsample):
    with pytest.raises(InputError, match="downsample must be at least 1"):
        make_window((1000, 600), downsample)


def test_make_window_rejects_a_large_picture_and_suggests_a_downsample():
    with pytest.raises(InputError, match=r"8,000 megapixels; the limit is 200\. Use a downsample of at least 7 "):
        make_window((100_000, 80_000), 1)
    assert make_window((100_000, 80_000), 7).rows * make_window((100_000, 80_000), 7).columns <= MAX_PIXELS


def test_check_positions_names_the_first_tile_outside():
    inside = np.array([[0, 0], [999, 599]])
    check_positions(inside, (1000, 600))
    for x, y in ((1000, 0), (0, 600), (-1, 5), (np.nan, 0)):
        with pytest.raises(InputError, match=r"tile 2 at .* is outside the slide of 1000 × 600 level-0 pixels"):
            check_positions(np.vstack([inside, [[x, y], [5000, 5000]]]), (1000, 600))
