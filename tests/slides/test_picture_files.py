"""Image files: any kind of pixels becomes RGB bytes, damaged files and bombs are refused."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from bagwise.errors import InputError
from bagwise.slides.picture_files import read_image
from slides.damage import damaged

KINDS = ("png", "jpeg", "bmp", "tiff", "webp")


def picture(seed, height=40, width=56):
    return np.random.default_rng(seed).integers(0, 200, (height, width, 3), dtype=np.uint8)


def save(path, pixels):
    Image.fromarray(pixels).save(path)


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "LA", "1", "CMYK"])
def test_other_kinds_of_pixels_become_rgb(tmp_path, mode):
    path = tmp_path / ("a.tif" if mode == "CMYK" else "a.png")
    Image.fromarray(picture(0)).convert(mode).save(path)
    assert read_image(path).shape == (40, 56, 3)


def test_what_is_transparent_shows_white(tmp_path):
    pixels = np.zeros((4, 4, 4), dtype=np.uint8)
    pixels[:2, :, 3] = 255
    Image.fromarray(pixels).save(tmp_path / "a.png")
    found = read_image(tmp_path / "a.png")
    assert (found[:2] == 0).all()
    assert (found[2:] == 255).all()


def test_sixteen_bits_are_refused_rather_than_cut_off(tmp_path):
    Image.fromarray(np.zeros((4, 4), dtype=np.uint16)).save(tmp_path / "deep.png")
    with pytest.raises(InputError, match=r"deep.png has pixels of kind 'I;16'; save it with eight bits"):
        read_image(tmp_path / "deep.png")


@pytest.mark.parametrize("limit", [1000, 2000])
def test_an_image_bomb_is_refused(tmp_path, monkeypatch, limit):
    """Pillow warns above its limit, and raises above twice its limit."""
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    save(tmp_path / "bomb.png", picture(0))
    with pytest.raises(InputError, match=r"bomb.png has more than .* pixels; cut it into smaller images"):
        read_image(tmp_path / "bomb.png")


@pytest.fixture(scope="module")
def whole_images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    for kind in KINDS:
        save(folder / f"image.{kind}", picture(0, 12, 12))
    return folder


def read_damaged(folder, kind, seed):
    """Change some bytes, most often of the header, and cut some off: the image is read or refused."""
    path = folder / f"damaged.{kind}"
    path.write_bytes(damaged((folder / f"image.{kind}").read_bytes(), seed))
    with contextlib.suppress(InputError):
        assert read_image(path).ndim == 3


CASES = {"kind": st.sampled_from(KINDS), "seed": st.integers(0, 1_000_000)}


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(**CASES)
def test_damaged_images_are_read_or_refused_by_name(whole_images, kind, seed):
    read_damaged(whole_images, kind, seed)


@pytest.mark.full
@settings(max_examples=5000, deadline=None)
@given(**CASES)
def test_damaged_images_of_many_more_kinds_are_read_or_refused(whole_images, kind, seed):
    read_damaged(whole_images, kind, seed)
