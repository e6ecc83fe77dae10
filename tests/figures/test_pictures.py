"""Instances as pictures: what is seen is what was measured."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from bagwise.figures import data_uri, displayable, is_picture


def opened(uri):
    kind, _, text = uri.partition(";base64,")
    image = Image.open(io.BytesIO(base64.b64decode(text)))
    assert kind == f"data:image/{image.format.lower()}"
    return image


@pytest.mark.parametrize("shape", [(8, 8), (8, 6), (28, 28, 3)])
def test_a_small_picture_keeps_every_pixel(shape):
    picture = np.random.default_rng(0).integers(256, size=shape, dtype=np.uint8)
    np.testing.assert_array_equal(np.asarray(opened(data_uri(picture))), picture)


def test_a_large_picture_is_reduced_and_keeps_its_shape():
    uri = data_uri(np.random.default_rng(0).integers(256, size=(448, 224, 3), dtype=np.uint8))
    assert opened(uri).size == (56, 112)
    assert len(uri) < 12_000


def test_all_but_rgb_bytes_are_stretched_together():
    images = np.array([[[0, 4]], [[8, 16]]], dtype=np.uint8)
    np.testing.assert_array_equal(displayable(images), [[[0, 64]], [[128, 255]]])
    np.testing.assert_array_equal(displayable(images / 16 - 3), [[[0, 64]], [[128, 255]]])
    np.testing.assert_array_equal(displayable(images[..., np.newaxis]), displayable(images))


def test_rgb_bytes_stay_as_they_are():
    photograph = np.full((2, 3, 3, 3), 100, dtype=np.uint8)
    assert displayable(photograph) is photograph


def test_a_flat_picture_is_black_not_an_error():
    assert not displayable(np.full((2, 3, 3), 7.5)).any()


@pytest.mark.parametrize(("shape", "picture"), [((3,), False), ((4, 4), True), ((4, 4, 3), True), ((4, 4, 5), False)])
def test_what_counts_as_a_picture(shape, picture):
    assert is_picture(shape) is picture
