import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.slides.cutting import cut, white_share

IMAGE = np.random.default_rng(0).integers(0, 256, size=(50, 71, 3), dtype=np.uint8)


@pytest.mark.parametrize(("size", "stride"), [(8, None), (8, 5), (50, 1), (1, 7)])
def test_every_tile_is_the_image_at_its_position(size, stride):
    tiles, positions = cut(IMAGE, size, stride)
    for tile, (x, y) in zip(tiles, positions, strict=True):
        np.testing.assert_array_equal(tile, IMAGE[y : y + size, x : x + size])
    step = stride or size
    assert len(tiles) == ((50 - size) // step + 1) * ((71 - size) // step + 1)
    assert len({tuple(position) for position in positions}) == len(positions)


def test_grey_images_are_cut_too():
    tiles, _ = cut(IMAGE[..., 0], 10)
    assert tiles.shape == (35, 10, 10)


def test_white_is_a_grey_value_above_the_threshold():
    tiles = np.zeros((1, 2, 2, 3), dtype=np.uint8)
    tiles[0, 0, 0] = 255
    tiles[0, 0, 1] = (215, 215, 215)
    assert white_share(tiles).tolist() == [0.25]
    assert white_share(tiles, white=200).tolist() == [0.5]
    assert white_share(tiles[..., 0], white=200).tolist() == [0.5]


def test_impossible_sizes_are_refused():
    with pytest.raises(InputError, match="holds no tile of 60×60"):
        cut(IMAGE, 60)
    with pytest.raises(InputError, match="at least 1"):
        cut(IMAGE, 5, 0)
