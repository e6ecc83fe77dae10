"""Image files: pixels of every mode are converted to RGB; damaged files and decompression bombs are rejected.

Images → bags: every tile is equal to the image at its position; images without a kept tile are listed by name.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from bagwise.bags.folder import load_bags, save_bags
from bagwise.data.slides.image_bags import (
    ImageTiling,
    cut_tiles,
    list_images,
    load_image_bags,
    measure_white,
    read_image,
)
from bagwise.errors import InputError
from data.slides.damage import damaged

IMAGE = np.random.default_rng(0).integers(0, 256, size=(50, 71, 3), dtype=np.uint8)


@pytest.mark.parametrize(("size", "stride"), [(8, None), (8, 5), (50, 1), (1, 7)])
def test_cut_tiles_returns_the_image_at_every_position(size, stride):
    tiles, positions = cut_tiles(IMAGE, size, stride)
    for tile, (x, y) in zip(tiles, positions, strict=True):
        np.testing.assert_array_equal(tile, IMAGE[y : y + size, x : x + size])
    step = stride or size
    assert len(tiles) == ((50 - size) // step + 1) * ((71 - size) // step + 1)
    assert len({tuple(position) for position in positions}) == len(positions)


def test_cut_tiles_accepts_grey_images():
    tiles, _ = cut_tiles(IMAGE[..., 0], 10)
    assert tiles.shape == (35, 10, 10)


def test_measure_white_counts_grey_values_above_the_threshold():
    tiles = np.zeros((1, 2, 2, 3), dtype=np.uint8)
    tiles[0, 0, 0] = 255
    tiles[0, 0, 1] = (215, 215, 215)
    assert measure_white(tiles).tolist() == [0.25]
    assert measure_white(tiles, white=200).tolist() == [0.5]
    assert measure_white(tiles[..., 0], white=200).tolist() == [0.5]


def test_cut_tiles_rejects_invalid_sizes():
    with pytest.raises(InputError, match="is smaller than a tile of 60×60"):
        cut_tiles(IMAGE, 60)
    with pytest.raises(InputError, match="at least 1"):
        cut_tiles(IMAGE, 5, 0)


KINDS = ("png", "jpeg", "bmp", "tiff", "webp")


def picture(seed, height=40, width=56):
    return np.random.default_rng(seed).integers(0, 200, (height, width, 3), dtype=np.uint8)


def save(path, pixels):
    Image.fromarray(pixels).save(path)


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "LA", "1", "CMYK"])
def test_read_image_converts_pixels_of_every_mode_to_rgb(tmp_path, mode):
    path = tmp_path / ("a.tif" if mode == "CMYK" else "a.png")
    Image.fromarray(picture(0)).convert(mode).save(path)
    assert read_image(path).shape == (40, 56, 3)


def test_read_image_makes_transparent_pixels_white(tmp_path):
    pixels = np.zeros((4, 4, 4), dtype=np.uint8)
    pixels[:2, :, 3] = 255
    Image.fromarray(pixels).save(tmp_path / "a.png")
    found = read_image(tmp_path / "a.png")
    assert (found[:2] == 0).all()
    assert (found[2:] == 255).all()


def test_read_image_rejects_sixteen_bits_per_channel(tmp_path):
    Image.fromarray(np.zeros((4, 4), dtype=np.uint16)).save(tmp_path / "deep.png")
    with pytest.raises(InputError, match=r"deep\.png has pixels of mode 'I;16'; save it with eight bits"):
        read_image(tmp_path / "deep.png")


@pytest.mark.parametrize("limit", [1000, 2000])
def test_read_image_rejects_decompression_bombs(tmp_path, monkeypatch, limit):
    """Pillow warns above its limit, and raises above twice its limit."""
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    save(tmp_path / "bomb.png", picture(0))
    with pytest.raises(InputError, match=r"bomb\.png has more than .* pixels; cut it into smaller images"):
        read_image(tmp_path / "bomb.png")


@pytest.fixture(scope="module")
def whole_images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    for kind in KINDS:
        save(folder / f"image.{kind}", picture(0, 12, 12))
    return folder


def read_damaged(folder, kind, seed):
    """Check that an image is read, or rejected by name, after damage that is mostly in the header."""
    path = folder / f"damaged.{kind}"
    path.write_bytes(damaged((folder / f"image.{kind}").read_bytes(), seed))
    try:
        pixels = read_image(path)
    except InputError as error:
        message = str(error)
    else:
        assert pixels.ndim == 3
        return
    assert path.name in message


CASES = {"kind": st.sampled_from(KINDS), "seed": st.integers(0, 1_000_000)}


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(**CASES)
def test_read_image_reads_damaged_images_or_rejects_them_by_name(whole_images, kind, seed):
    read_damaged(whole_images, kind, seed)


@pytest.mark.full
@settings(max_examples=5000, deadline=None)
@given(**CASES)
def test_read_image_reads_many_more_damaged_images_or_rejects_them_by_name(whole_images, kind, seed):
    read_damaged(whole_images, kind, seed)


TILING = ImageTiling(16)


def save_images(path, pixels, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)


@pytest.fixture
def folder(tmp_path):
    for number, name in enumerate(["benign/a.png", "benign/b.bmp", "malignant/c.tif", "malignant/deeper/d.PNG"]):
        save_images(tmp_path / "images" / name, picture(number))
    save_images(tmp_path / "images" / "benign" / "white.png", np.full((40, 56, 3), 250, dtype=np.uint8))
    save_images(tmp_path / "images" / "malignant" / "tiny.png", picture(9, height=10))
    (tmp_path / "images" / "notes.txt").write_text("not an image")
    (tmp_path / "images" / "benign" / ".hidden.png").write_text("not an image")
    return tmp_path / "images"


def test_load_image_bags_takes_labels_from_subfolders_and_tiles_from_images(folder):
    bags, set_aside = load_image_bags(folder, TILING)
    assert bags.names.tolist() == ["benign/a.png", "benign/b.bmp", "malignant/c.tif", "malignant/deeper/d.PNG"]
    assert bags.labels.tolist() == ["benign", "benign", "malignant", "malignant"]
    assert set_aside == ["benign/white.png", "malignant/tiny.png"]
    assert bags.tile_sizes.tolist() == [16] * 4
    assert bags.instances.dtype == np.uint8
    for bag in range(4):
        rows = slice(bags.offsets[bag], bags.offsets[bag + 1])
        for tile, (x, y) in zip(bags.instances[rows], bags.positions[rows], strict=True):
            np.testing.assert_array_equal(tile, picture(bag)[y : y + 16, x : x + 16])


def test_load_image_bags_can_be_saved_and_loaded_again(folder, tmp_path):
    bags = load_image_bags(folder, ImageTiling(16, 8)).bags
    save_bags(bags, tmp_path / "bags")
    read = load_bags(tmp_path / "bags")
    for field in ("instances", "offsets", "labels", "names", "positions", "tile_sizes"):
        np.testing.assert_array_equal(getattr(read, field), getattr(bags, field))


def test_load_image_bags_drops_tiles_with_at_least_the_given_share_of_white(tmp_path):
    pixels = np.zeros((16, 48, 3), dtype=np.uint8)
    pixels[:12, 16:32] = 255  # three quarters of the second tile are white
    pixels[:, 32:] = 210
    save_images(tmp_path / "x" / "a.png", pixels)
    assert load_image_bags(tmp_path, ImageTiling(16)).bags.positions.tolist() == [[0, 0], [32, 0]]
    assert load_image_bags(tmp_path, ImageTiling(16, white=200)).bags.positions.tolist() == [[0, 0]]
    assert len(load_image_bags(tmp_path, ImageTiling(16, drop=0.76)).bags.positions) == 3
    with pytest.raises(
        InputError, match=r"no tile of any image was kept; use smaller tiles, e\.g\. --data-option size=50"
    ):
        load_image_bags(tmp_path, ImageTiling(100))


def test_load_image_bags_takes_files_labels_and_groups_from_a_csv_file(folder, tmp_path):
    table = tmp_path / "images.csv"
    table.write_text("file,label,group\nimages/benign/a.png,0,p1\nimages/malignant/c.tif,1,p2\n")
    bags = load_image_bags(table, TILING).bags
    assert bags.labels.tolist() == [0, 1]
    assert bags.groups.tolist() == ["p1", "p2"]
    assert bags.names.tolist() == ["images/benign/a.png", "images/malignant/c.tif"]
    table.write_text("file,label\nimages/benign/nowhere.png,0\n")
    with pytest.raises(InputError, match=r"no such file: .*nowhere\.png"):
        load_image_bags(table, TILING)


def test_load_image_bags_without_subfolders_has_no_labels(tmp_path):
    save_images(tmp_path / "a.png", picture(0))
    assert load_image_bags(tmp_path, TILING).bags.labels is None
    save_images(tmp_path / "class" / "b.png", picture(1))
    with pytest.raises(InputError, match=r"a\.png is beside the class subfolders; move it into one of them"):
        list_images(tmp_path)


def test_list_images_rejects_a_class_without_images_by_name(folder):
    (folder / "normal").mkdir()
    (folder / "normal" / "scan.gif").touch()
    with pytest.raises(InputError, match=r"normal is a class folder without images .*; add images or remove it"):
        list_images(folder)


def test_load_image_bags_follows_links_and_rejects_broken_ones_by_name(folder, tmp_path):
    (folder / "malignant").rename(tmp_path / "elsewhere")
    (folder / "malignant").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "round").symlink_to(folder)  # a cycle
    assert len(load_image_bags(folder, TILING).bags) == 4
    (folder / "benign" / "gone.png").symlink_to(tmp_path / "gone.png")
    with pytest.raises(InputError, match=r"no such file: .*gone\.png"):
        load_image_bags(folder, TILING)


@pytest.mark.parametrize(
    ("tiling", "message"),
    [
        (ImageTiling(0), "size must be a whole number of pixels, at least 1, got 0"),
        (ImageTiling(32.0), "size must be a whole number of pixels, at least 1, got 32.0"),
        (ImageTiling(True), "size must be a whole number of pixels, at least 1, got True"),
        (ImageTiling(16, 0), "stride must be a whole number of pixels, at least 1, got 0"),
        (ImageTiling(16, 2.5), "stride must be a whole number of pixels, at least 1, got 2.5"),
        (ImageTiling(16, drop=0), "drop must be .*, above 0, got 0; pass e.g. --data-option drop=0.75"),
        (ImageTiling(16, drop=float("nan")), "drop must be .*, above 0, got nan"),
    ],
)
def test_load_image_bags_rejects_invalid_tilings_before_reading_images(tmp_path, tiling, message):
    save_images(tmp_path / "x" / "a.png", picture(0))
    (tmp_path / "x" / "a.png").write_text("not an image")
    with pytest.raises(InputError, match=message):
        load_image_bags(tmp_path, tiling)


def test_load_image_bags_rejects_more_than_two_gigabytes_of_tiles(tmp_path):
    save_images(tmp_path / "x" / "a.png", picture(0, 700, 2000))
    with pytest.raises(
        InputError, match=r"a\.png would become 902,301 tiles.*use a larger stride, e\.g\. --data-option stride=200"
    ):
        load_image_bags(tmp_path, ImageTiling(200, 1))
    assert len(load_image_bags(tmp_path, ImageTiling(200, 100)).bags.positions) == 114


def test_list_images_rejects_folders_without_images(tmp_path):
    with pytest.raises(InputError, match="contains no images"):
        list_images(tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        list_images(tmp_path / "nowhere")
