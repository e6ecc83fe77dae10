"""Images → bags: every tile is the image at its position; images without a kept tile are set aside by name."""

import numpy as np
import pytest
from PIL import Image

from bagwise.errors import InputError
from bagwise.slides.images import Tiling, list_images, load_image_bags, write_image_bags
from bagwise.storage import load_bags

TILING = Tiling(16)


def picture(seed, height=40, width=56):
    return np.random.default_rng(seed).integers(0, 200, (height, width, 3), dtype=np.uint8)


def save(path, pixels, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)


@pytest.fixture
def folder(tmp_path):
    for number, name in enumerate(["benign/a.png", "benign/b.bmp", "malignant/c.tif", "malignant/deeper/d.PNG"]):
        save(tmp_path / "images" / name, picture(number))
    save(tmp_path / "images" / "benign" / "white.png", np.full((40, 56, 3), 250, dtype=np.uint8))
    save(tmp_path / "images" / "malignant" / "tiny.png", picture(9, height=10))
    (tmp_path / "images" / "notes.txt").write_text("not an image")
    (tmp_path / "images" / "benign" / ".hidden.png").write_text("not looked at")
    return tmp_path / "images"


def test_class_sub_folders_become_labels_and_tiles_are_the_images(folder):
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


def test_written_bags_are_the_same(folder, tmp_path):
    bags, set_aside = load_image_bags(folder, Tiling(16, 8))
    assert write_image_bags(folder, tmp_path / "bags", Tiling(16, 8)) == set_aside
    read = load_bags(tmp_path / "bags")
    for field in ("instances", "offsets", "labels", "names", "positions", "tile_sizes"):
        np.testing.assert_array_equal(getattr(read, field), getattr(bags, field))


def test_tiles_from_the_given_white_share_on_are_dropped(tmp_path):
    pixels = np.zeros((16, 48, 3), dtype=np.uint8)
    pixels[:12, 16:32] = 255  # three quarters of the second tile
    pixels[:, 32:] = 210
    save(tmp_path / "x" / "a.png", pixels)
    assert load_image_bags(tmp_path, Tiling(16)).bags.positions.tolist() == [[0, 0], [32, 0]]
    assert load_image_bags(tmp_path, Tiling(16, white=200)).bags.positions.tolist() == [[0, 0]]
    assert len(load_image_bags(tmp_path, Tiling(16, drop=0.76)).bags.positions) == 3
    with pytest.raises(InputError, match="no image has a tile to keep"):
        load_image_bags(tmp_path, Tiling(100))


def test_a_csv_gives_files_labels_and_groups(folder, tmp_path):
    table = tmp_path / "images.csv"
    table.write_text("file,label,group\nimages/benign/a.png,0,p1\nimages/malignant/c.tif,1,p2\n")
    bags = load_image_bags(table, TILING).bags
    assert bags.labels.tolist() == [0, 1]
    assert bags.groups.tolist() == ["p1", "p2"]
    assert bags.names.tolist() == ["images/benign/a.png", "images/malignant/c.tif"]
    table.write_text("file,label\nimages/benign/nowhere.png,0\n")
    with pytest.raises(InputError, match=r"nowhere.png does not exist"):
        load_image_bags(table, TILING)


def test_images_without_sub_folders_have_no_labels(tmp_path):
    save(tmp_path / "a.png", picture(0))
    assert load_image_bags(tmp_path, TILING).bags.labels is None
    save(tmp_path / "class" / "b.png", picture(1))
    with pytest.raises(InputError, match=r"a.png lies beside the class sub-folders"):
        list_images(tmp_path)


def test_a_class_without_images_is_refused_by_name(folder):
    (folder / "normal").mkdir()
    (folder / "normal" / "scan.gif").touch()
    with pytest.raises(InputError, match=r"normal is a class without images .*; fill it or take it away"):
        list_images(folder)


def test_links_are_followed_and_those_to_nothing_are_named(folder, tmp_path):
    (folder / "malignant").rename(tmp_path / "elsewhere")
    (folder / "malignant").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "round").symlink_to(folder)  # and no end of it
    assert len(load_image_bags(folder, TILING).bags) == 4
    (folder / "benign" / "gone.png").symlink_to(tmp_path / "gone.png")
    with pytest.raises(InputError, match=r"gone.png does not exist"):
        load_image_bags(folder, TILING)


@pytest.mark.parametrize(
    ("tiling", "message"),
    [
        (Tiling(0), "size = 0; give a whole number"),
        (Tiling(32.0), "size = 32.0; give a whole number"),
        (Tiling(True), "size = True"),
        (Tiling(16, 0), "stride = 0"),
        (Tiling(16, 2.5), "stride = 2.5; give a whole number"),
        (Tiling(16, drop=0), "drop is 0"),
        (Tiling(16, drop=float("nan")), "drop is nan"),
    ],
)
def test_impossible_tilings_are_refused_before_any_image_is_read(tmp_path, tiling, message):
    save(tmp_path / "x" / "a.png", picture(0))
    (tmp_path / "x" / "a.png").write_text("no image")
    with pytest.raises(InputError, match=message):
        load_image_bags(tmp_path, tiling)


def test_more_tiles_than_memory_holds_are_refused(tmp_path):
    save(tmp_path / "x" / "a.png", picture(0, 700, 2000))
    with pytest.raises(InputError, match=r"a.png would become 902,301 tiles.*widen the stride"):
        load_image_bags(tmp_path, Tiling(200, 1))
    assert len(load_image_bags(tmp_path, Tiling(200, 100)).bags.positions) == 114


def test_a_folder_without_images_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no images"):
        list_images(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        list_images(tmp_path / "nowhere")
