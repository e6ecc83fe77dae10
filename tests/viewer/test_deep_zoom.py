import numpy as np
import pytest
from PIL import Image

from bagwise.explain.heatmaps.grounds import ImageGround, open_ground
from bagwise.viewer import deep_zoom
from bagwise.viewer.deep_zoom import TILE, deepest_level, jpeg, png, read_tile

WIDTH, HEIGHT = 700, 300


@pytest.fixture(scope="module")
def pixels():
    return np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


@pytest.fixture
def picture(pixels, tmp_path):
    Image.fromarray(pixels).save(tmp_path / "picture.png")
    return open_ground(tmp_path / "picture.png")


def test_the_tiles_of_the_deepest_level_are_the_picture(picture, pixels):
    level = deepest_level(picture)
    rows = [np.concatenate([read_tile(picture, level, column, row) for column in range(3)], axis=1) for row in range(2)]
    np.testing.assert_array_equal(np.concatenate(rows), pixels)
    assert read_tile(picture, level, 2, 1).shape == (HEIGHT - TILE, WIDTH - 2 * TILE, 3)


def test_a_pixel_of_a_coarser_level_is_the_mean_of_its_square(picture, pixels):
    found = read_tile(picture, deepest_level(picture) - 1, 1, 0).astype(float)
    column, row = 10, 20  # pixel (TILE + 10, 20) of that level
    square = pixels[2 * row : 2 * row + 2, 2 * (TILE + column) : 2 * (TILE + column) + 2].astype(float)
    np.testing.assert_allclose(found[row, column], square.mean(axis=(0, 1)), atol=1)  # Pillow rounds rows, then columns


def test_what_is_too_large_to_be_read_at_once_is_put_together_from_below(picture, monkeypatch):
    at_once = read_tile(picture, 8, 0, 0).astype(int)
    monkeypatch.setattr(deep_zoom, "READ_AT_ONCE", TILE)
    read = []
    square = ImageGround.square
    monkeypatch.setattr(ImageGround, "square", lambda self, *place: read.append(place) or square(self, *place))
    together = read_tile(picture, 8, 0, 0).astype(int)
    assert max(extent for _, _, extent, _ in read) == TILE
    assert np.abs(together - at_once)[: HEIGHT // 4, : WIDTH // 4].max() <= 2  # rounded twice instead of once


def test_tiles_that_are_not_there_are_refused(picture):
    deepest = deepest_level(picture)
    for place in ((deepest + 1, 0, 0), (deepest, 3, 0), (deepest, 0, 2), (0, 1, 0)):
        with pytest.raises(IndexError):
            read_tile(picture, *place)
    assert read_tile(picture, 0, 0, 0).shape == (1, 1, 3)


def test_png_keeps_every_pixel_and_jpeg_nearly(pixels, tmp_path):
    (tmp_path / "a.png").write_bytes(png(pixels))
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")), pixels)
    smooth = np.broadcast_to(np.linspace(0, 255, 64).astype(np.uint8)[:, None, None], (64, 64, 3)).copy()
    (tmp_path / "a.jpg").write_bytes(jpeg(smooth))
    assert np.abs(np.asarray(Image.open(tmp_path / "a.jpg")).astype(int) - smooth).max() <= 6
