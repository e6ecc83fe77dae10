"""The image under a map is the correct part of the slide, for any downsample and any size of the squares."""

import numpy as np
import pytest
from PIL import Image

from bagwise.errors import InputError
from bagwise.explain.heatmaps import backgrounds
from bagwise.explain.heatmaps.backgrounds import ImageBackground, SlideBackground, open_background
from bagwise.explain.heatmaps.window import make_window
from data.slides.slide_files import HEIGHT, PURPLE, WIDTH, painted, write_pyramid

pytest.importorskip("openslide")

CONTRAST = 228 + 15 - PURPLE[1]  # between glass and tissue


@pytest.fixture(scope="module")
def pyramid(tmp_path_factory):
    path = tmp_path_factory.mktemp("pyramid") / "pyramid.tif"
    return path, write_pyramid(path)


@pytest.fixture(scope="module")
def image_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("image_path") / "image_path.png"
    Image.fromarray(painted()).save(path)
    return path


def average_window(picture, window):
    """Return the mean of the level-0 pixels whose centres are inside each pixel of the window."""
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
def test_read_window_shows_its_part_of_slide_and_image(pyramid, image_path, downsample, region, monkeypatch):
    monkeypatch.setattr(backgrounds, "READ_AT_ONCE", 100)
    window = make_window((WIDTH, HEIGHT), downsample, region)
    expected = average_window(painted(), window)[:-1, :-1]
    for background in (open_background(pyramid[0]), open_background(image_path)):
        with background:
            found = background.read_window(window).astype(float)
        assert found.shape == (window.rows, window.columns, 3)
        error = np.abs(found[:-1, :-1] - expected).max(axis=2)
        level = max(factor for factor in background.downsamples if factor <= downsample)
        assert np.median(error) < 3
        assert (
            error.max() < CONTRAST * (level / 2 + 1) / downsample
        )  # tolerance: half a pixel of the level that is read, and rounding


def test_read_window_of_a_level_is_that_level_pixel_by_pixel(pyramid):
    path, pictures = pyramid
    with open_background(path) as background:
        assert isinstance(background, SlideBackground)
        assert background.size == (WIDTH, HEIGHT)
        for level, pixels in enumerate(pictures):
            np.testing.assert_array_equal(
                background.read_window(make_window(background.size, background.downsample(level))), pixels
            )
        with pytest.raises(InputError, match="has no level 3; its levels are 0 to 2"):
            background.downsample(3)


def test_image_background_is_white_outside_the_image(image_path):
    with open_background(image_path) as background:
        assert isinstance(background, ImageBackground)
        np.testing.assert_array_equal(background.read_window(make_window(background.size, 1)), painted())
        corner = background.read_square(WIDTH - 10, HEIGHT - 6, 16, 16)
    np.testing.assert_array_equal(corner[:6, :10], painted()[-6:, -10:])
    assert (corner[6:] == 255).all()
    assert (corner[:, 10:] == 255).all()


def test_open_background_opens_a_plain_tiff_as_an_image(tmp_path, pyramid):
    Image.fromarray(painted()[:64, :80]).save(tmp_path / "image.tif")
    with open_background(tmp_path / "image.tif") as background:
        assert isinstance(background, ImageBackground)
        assert background.size == (80, 64)


def test_open_background_names_a_file_that_is_not_a_picture(tmp_path):
    for name in ("text.png", "text.svs", "text.tif"):
        (tmp_path / name).write_text("not a picture")
        with pytest.raises(InputError, match=name):
            open_background(tmp_path / name)
    with pytest.raises(InputError, match=r"gone\.tif"):
        open_background(tmp_path / "gone.tif")
