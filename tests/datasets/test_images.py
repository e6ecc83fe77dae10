import numpy as np
import pytest
from PIL import Image

from bagwise.datasets.images import read_image
from bagwise.errors import InputError


@pytest.mark.parametrize("form", ["bmp", "tif", "webp", "png"])
def test_pixels_are_the_same_in_every_lossless_form(tmp_path, form):
    pixels = np.random.default_rng(0).integers(0, 256, (6, 4, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / f"image.{form}", **({"lossless": True} if form == "webp" else {}))
    np.testing.assert_array_equal(read_image(tmp_path / f"image.{form}", width=4, height=6), pixels)


def test_other_sizes_and_other_files_are_refused_by_name(tmp_path):
    Image.new("RGB", (5, 6)).save(tmp_path / "image.bmp")
    with pytest.raises(InputError, match="5×6 pixels instead of 4×6"):
        read_image(tmp_path / "image.bmp", 4, 6)
    (tmp_path / "text.bmp").write_text("not an image")
    with pytest.raises(InputError, match=r"text\.bmp cannot be read"):
        read_image(tmp_path / "text.bmp", 4, 6)
    content = (tmp_path / "image.bmp").read_bytes()
    (tmp_path / "cut.bmp").write_bytes(content[:-30])
    with pytest.raises(InputError, match=r"cut\.bmp cannot be read"):
        read_image(tmp_path / "cut.bmp", 5, 6)


def test_pillows_limit_against_bombs_is_on(tmp_path, monkeypatch):
    Image.new("RGB", (5, 6)).save(tmp_path / "image.bmp")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 20)
    with pytest.raises(InputError, match=r"image\.bmp cannot be read"):
        read_image(tmp_path / "image.bmp", 5, 6)
