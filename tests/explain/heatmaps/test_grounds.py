"""The picture under a map is the right part of the slide, at any downsample, whatever the size of what is read."""

import numpy as np
import pytest
from PIL import Image

from bagwise.errors import InputError
from bagwise.explain.heatmaps import grounds
from bagwise.explain.heatmaps.grounds import ImageGround, SlideGround, open_ground
from bagwise.explain.heatmaps.window import window_of
from slides.slide_files import HEIGHT, PURPLE, WIDTH, painted, write_pyramid

pytest.importorskip("openslide")

CONTRAST = 228 + 15 - PURPLE[1]  # between glass and tissue


@pytest.fixture(scope="module")
def pyramid(tmp_path_factory):
    path = tmp_path_factory.mktemp("pyramid") / "pyramid.tif"
    return path, write_pyramid(path)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    path = tmp_path_factory.mktemp("plain") / "plain.png"
    Image.fromarray(painted()).save(path)
    return path


def means(picture, window):
    """The mean of the level-0 pixels whose centres lie in each pixel of the window, white beyond the border."""
    result = np.empty((window.rows, window.columns, 3))
    for row in range(window.rows):
        for column in range(window.columns):
            y = np.arange(HEIGHT)[_inside(HEIGHT, window.y + row * window.downsample, window.downsample)]
            x = np.arange(WIDTH)[_inside(WIDTH, window.x + column * window.downsample, window.downsample)]
            result[row, column] = picture[y[0] : y[-1] + 1, x[0] : x[-1] + 1].mean(axis=(0, 1))
    return result


def _inside(length, start, side):
    centres = np.arange(length) + 0.5
    return (centres >= start) & (centres < start + side)


@pytest.mark.parametrize("downsample", [16, 32, 23.7, 51.2])
@pytest.mark.parametrize("region", [None, (400, 200, 700, 500)])
def test_a_window_shows_its_part_of_slide_and_image(pyramid, plain, downsample, region, monkeypatch):
    monkeypatch.setattr(grounds, "READ_AT_ONCE", 100)
    window = window_of((WIDTH, HEIGHT), downsample, region)
    expected = means(painted(), window)[:-1, :-1]
    for ground in (open_ground(pyramid[0]), open_ground(plain)):
        with ground:
            found = ground.read(window).astype(float)
        assert found.shape == (window.rows, window.columns, 3)
        off = np.abs(found[:-1, :-1] - expected).max(axis=2)
        level = max(factor for factor in ground.downsamples if factor <= downsample)
        assert np.median(off) < 3
        assert off.max() < CONTRAST * (level / 2 + 1) / downsample  # half a pixel of the level read, and a rounding


def test_a_level_of_a_slide_is_that_level_pixel_by_pixel(pyramid):
    path, pictures = pyramid
    with open_ground(path) as ground:
        assert isinstance(ground, SlideGround)
        assert ground.size == (WIDTH, HEIGHT)
        for level, pixels in enumerate(pictures):
            np.testing.assert_array_equal(ground.read(window_of(ground.size, ground.downsample(level))), pixels)
        with pytest.raises(InputError, match="has no level 3; its levels are 0 to 2"):
            ground.downsample(3)


def test_an_image_is_itself_and_white_beyond_its_border(plain):
    with open_ground(plain) as ground:
        assert isinstance(ground, ImageGround)
        np.testing.assert_array_equal(ground.read(window_of(ground.size, 1)), painted())
        corner = ground.square(WIDTH - 10, HEIGHT - 6, 16, 16)
    np.testing.assert_array_equal(corner[:6, :10], painted()[-6:, -10:])
    assert (corner[6:] == 255).all()
    assert (corner[:, 10:] == 255).all()


def test_a_tiff_is_a_slide_only_if_openslide_knows_it(tmp_path, pyramid):
    Image.fromarray(painted()[:64, :80]).save(tmp_path / "image.tif")
    with open_ground(tmp_path / "image.tif") as ground:
        assert isinstance(ground, ImageGround)
        assert ground.size == (80, 64)


def test_what_is_no_picture_is_refused_by_name(tmp_path):
    for name in ("words.png", "words.svs", "words.tif"):
        (tmp_path / name).write_text("no picture")
        with pytest.raises(InputError, match=name):
            open_ground(tmp_path / name)
    with pytest.raises(InputError, match=r"gone\.tif"):
        open_ground(tmp_path / "gone.tif")
