"""Images are shown with unchanged values, at their positions, with their weights, titles and frames."""

import base64
import io

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from bagwise.figures.images import (
    is_image_shape,
    plot_bag_strip,
    plot_panels,
    plot_patches,
    to_data_uri,
    to_displayable,
)
from bagwise.figures.style import BLUE, VERMILLION


def decode(uri):
    kind, _, text = uri.partition(";base64,")
    image = Image.open(io.BytesIO(base64.b64decode(text)))
    assert kind == f"data:image/{image.format.lower()}"
    return image


@pytest.mark.parametrize("shape", [(8, 8), (8, 6), (28, 28, 3)])
def test_to_data_uri_keeps_every_pixel_of_a_small_image(shape):
    picture = np.random.default_rng(0).integers(256, size=shape, dtype=np.uint8)
    np.testing.assert_array_equal(np.asarray(decode(to_data_uri(picture))), picture)


def test_to_data_uri_reduces_a_large_image_and_keeps_its_aspect():
    uri = to_data_uri(np.random.default_rng(0).integers(256, size=(448, 224, 3), dtype=np.uint8))
    assert decode(uri).size == (56, 112)
    assert len(uri) < 12_000


def test_to_displayable_rescales_all_but_rgb_bytes_together():
    images = np.array([[[0, 4]], [[8, 16]]], dtype=np.uint8)
    np.testing.assert_array_equal(to_displayable(images), [[[0, 64]], [[128, 255]]])
    np.testing.assert_array_equal(to_displayable(images / 16 - 3), [[[0, 64]], [[128, 255]]])
    np.testing.assert_array_equal(to_displayable(images[..., np.newaxis]), to_displayable(images))


def test_to_displayable_keeps_rgb_bytes():
    photograph = np.full((2, 3, 3, 3), 100, dtype=np.uint8)
    assert to_displayable(photograph) is photograph


def test_to_displayable_makes_a_constant_image_black():
    assert not to_displayable(np.full((2, 3, 3), 7.5)).any()


@pytest.mark.parametrize(("shape", "expected"), [((3,), False), ((4, 4), True), ((4, 4, 3), True), ((4, 4, 5), False)])
def test_is_image_shape_accepts_grey_and_rgb_images(shape, expected):
    assert is_image_shape(shape) is expected


@pytest.mark.parametrize("shape", [(8, 6), (8, 6, 1), (8, 6, 3), (5,)])
def test_plot_bag_strip_shows_each_weight_and_frames_the_key_instances(axes, shape):
    weights = np.array([0.5, 0.3, 0.15, 0.05])
    key = np.array([True, False, True, False])
    plot_bag_strip(axes, np.random.default_rng(0).random((4, *shape)), weights, key, columns=3)
    assert [text.get_text() for text in axes.texts] == ["0.50", "0.30", "0.15", "0.05"]
    frames = [patch for patch in axes.patches if patch.get_facecolor()[3] == 0]
    assert [to_rgb(frame.get_edgecolor()) == to_rgb(VERMILLION) for frame in frames] == key.tolist()
    assert len(axes.images) == (0 if len(shape) == 1 else 4)
    if len(shape) == 1:
        bars = [patch.get_height() for patch in axes.patches if to_rgb(patch.get_facecolor()) == to_rgb(BLUE)]
        assert bars == weights.tolist()


def test_plot_bag_strip_shows_small_weights_with_four_digits(axes):
    plot_bag_strip(axes, np.zeros((3, 5)), np.array([0.0227, 0.0214, 0.0003]))
    assert [text.get_text() for text in axes.texts] == ["0.0227", "0.0214", "0.0003"]


def test_plot_panels_shows_pictures_and_titles_unchanged():
    pictures = {"(a) $x$": np.full((3, 5, 3), 7, np.uint8), "(b)": np.full((3, 5, 3), 9, np.uint8)}
    figure = plot_panels(Figure(), pictures)
    assert [axes.get_title() for axes in figure.axes] == list(pictures)
    for axes, picture in zip(figure.axes, pictures.values(), strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), picture)
        assert not axes.title.get_parse_math()


@pytest.mark.parametrize("shape", [(9, 7, 3), (9, 7)])
def test_plot_patches_shows_each_patch_in_its_row_and_column_with_its_own_values(axes, shape):
    stored = np.random.default_rng(0).integers(0, 256, (3, *shape), dtype=np.uint8)
    changed = stored.astype(np.float32) * 1.5 - 20
    assert plot_patches(axes, [("stored", stored), ("changed $1", changed[:2])]) is axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["stored", "changed $1"]
    plotted = {
        (round(left), round(-bottom)): picture
        for picture in axes.images
        for left, _, bottom, _ in [picture.get_extent()]
    }
    assert sorted(plotted) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    for (column, row), picture in plotted.items():
        expected = np.clip([stored, changed][row][column] / 255, 0, 1)  # clipped, not rescaled
        np.testing.assert_allclose(picture.get_array(), expected, atol=1e-6)
        assert picture.get_clim() == (0, 1)


def test_plot_patches_shows_patches_of_different_sizes_equally_large_and_within_the_axes(axes):
    plot_patches(axes, [("wide", np.zeros((2, 39, 39, 3))), ("cut", np.ones((2, 27, 27, 3)))], peak=1.0)
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    for picture in axes.images:
        x0, x1, y0, y1 = picture.get_extent()
        assert (x1 - x0, y1 - y0) == pytest.approx((1, 1))
        assert left <= x0 < x1 <= right
        assert bottom <= y0 < y1 <= top
    assert (axes.images[-1].get_array() == 1).all()
