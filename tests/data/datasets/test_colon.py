import numpy as np
import pytest
import scipy.io
from PIL import Image

from bagwise.data.datasets import colon
from bagwise.data.datasets.colon import read_image_of_size
from bagwise.errors import InputError
from real_data import HOME, needs_real_data

FOLDER = HOME / "colon_cancer" / "CRCHistoPhenotypes_2016_04_28" / "Classification"
needs_colon = needs_real_data("colon-cancer")


@pytest.fixture(scope="module")
def bags():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BAGWISE_DATA", str(HOME))
        return colon.load_colon()


@needs_colon
def test_load_colon_has_the_published_counts(bags):
    assert bags.names.tolist() == [f"img{number}" for number in range(1, 101)]
    assert (bags.n_instances, bags.instance_labels.sum()) == (22_444, 7722)
    assert (bags.labels.sum(), len(bags)) == (51, 100)
    assert bags.sizes[[75, 95, 73]].tolist() == [1, 6, 8]
    assert (bags.sizes.max(), np.median(bags.sizes), round(bags.sizes.mean(), 1)) == (796, 171, 224.4)
    n_epithelial = np.add.reduceat(bags.instance_labels, bags.offsets[:-1])
    np.testing.assert_array_equal(n_epithelial > 0, bags.labels == 1)
    assert n_epithelial[bags.labels == 1].min() > 5


@needs_colon
def test_load_colon_cuts_each_patch_at_its_position_inside_the_image(bags):
    assert bags.positions.min() >= 0
    assert bags.positions.max() <= 500 - 27
    for bag in (0, 75, 99):
        name = bags.names[bag]
        image = np.asarray(Image.open(FOLDER / name / f"{name}.webp").convert("RGB"))
        for row in range(bags.offsets[bag], bags.offsets[bag + 1], 20):
            x, y = bags.positions[row]
            np.testing.assert_array_equal(bags.instances[row], image[y : y + 27, x : x + 27])
    assert bags.instances.flags.c_contiguous
    assert set(bags.tile_sizes) == {27}


@needs_colon
def test_load_colon_with_a_margin_adds_the_surroundings_and_changes_nothing_else(bags):
    """The margin is mirrored beyond the border of the image; elsewhere it shows the tissue around the patch."""
    wide = colon.load_colon(margin=5)
    np.testing.assert_array_equal(wide.instances[:, 5:-5, 5:-5], bags.instances)
    np.testing.assert_array_equal(wide.positions, bags.positions)
    np.testing.assert_array_equal(wide.instance_labels, bags.instance_labels)
    assert set(wide.tile_sizes) == {27}
    image = np.asarray(Image.open(FOLDER / "img1" / "img1.webp").convert("RGB"))
    for row in range(bags.offsets[1]):
        x, y = bags.positions[row]
        if 5 <= min(x, y) <= max(x, y) <= 500 - 27 - 5:
            np.testing.assert_array_equal(wide.instances[row], image[y - 5 : y + 32, x - 5 : x + 32])
    at_left = np.flatnonzero(bags.positions[:, 0] == 0)
    np.testing.assert_array_equal(wide.instances[at_left][:, :, :5], wide.instances[at_left][:, :, 10:5:-1])


@pytest.mark.parametrize("margin", [-1, 28])
def test_load_colon_rejects_an_invalid_margin(margin):
    with pytest.raises(InputError, match=f"margin must be from 0 to 27 pixels, got {margin}"):
        colon.load_colon(margin=margin)


@needs_colon
def test_load_colon_centres_patches_on_the_marks_for_every_dtype_in_the_files(bags):
    """In uint8, x − 13 would wrap around and move patches to the opposite border."""
    dtypes = set()
    for bag in range(0, 100, 7):
        for name in colon.CLASSES:
            raw = scipy.io.loadmat(FOLDER / f"img{bag + 1}" / f"img{bag + 1}_{name}.mat")["detection"]
            dtypes.add(str(raw.dtype))
            marks = raw.astype(float)
            inside = marks[((marks > 14) & (marks < 486)).all(axis=1)]
            part = slice(bags.offsets[bag], bags.offsets[bag + 1])
            centres = bags.positions[part][bags.instance_labels[part] == (name == "epithelial")] + 14  # 1-based
            for mark in inside:
                assert np.abs(centres - mark).max(axis=1).min() <= 0.5
    assert {"uint8", "float64"} <= dtypes


@needs_colon
def test_load_colon_counts_marks_from_one(bags):
    """The mean patch is darkest around the mark, so it is symmetric about its central pixel only if 1 is subtracted."""
    inside = ((bags.positions > 0) & (bags.positions < 500 - 27)).all(axis=1)
    mean = bags.instances[inside][..., :3].mean(axis=(0, 3))

    def measure_asymmetry(x, y):
        part = mean[13 + y - 9 : 13 + y + 10, 13 + x - 9 : 13 + x + 10]
        return np.abs(part - part[::-1, ::-1]).sum()

    shifts = [(x, y) for x in range(-2, 3) for y in range(-2, 3)]
    assert min(shifts, key=lambda shift: measure_asymmetry(*shift)) == (0, 0)


def test_compute_corners_moves_patches_at_the_border_inward():
    corners = colon.compute_corners(np.array([[0.15, 250.0], [500.0, 499.6], [14.0, 14.4], [15.0, 15.6]]))
    assert corners.tolist() == [[0, 236], [473, 473], [0, 0], [1, 2]]


@pytest.mark.parametrize("form", ["bmp", "tif", "webp", "png"])
def test_read_image_of_size_reads_every_lossless_format(tmp_path, form):
    pixels = np.random.default_rng(0).integers(0, 256, (6, 4, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / f"image.{form}", **({"lossless": True} if form == "webp" else {}))
    np.testing.assert_array_equal(read_image_of_size(tmp_path / f"image.{form}", width=4, height=6), pixels)


def test_read_image_of_size_rejects_other_sizes_and_damaged_files_by_name(tmp_path):
    Image.new("RGB", (5, 6)).save(tmp_path / "image.bmp")
    with pytest.raises(InputError, match=r"image\.bmp has 5×6 pixels instead of 4×6"):
        read_image_of_size(tmp_path / "image.bmp", 4, 6)
    (tmp_path / "text.bmp").write_text("not an image")
    with pytest.raises(InputError, match=r"text\.bmp cannot be read"):
        read_image_of_size(tmp_path / "text.bmp", 4, 6)
    content = (tmp_path / "image.bmp").read_bytes()
    (tmp_path / "cut.bmp").write_bytes(content[:-30])
    with pytest.raises(InputError, match=r"cut\.bmp cannot be read"):
        read_image_of_size(tmp_path / "cut.bmp", 5, 6)


def test_read_image_of_size_keeps_the_decompression_bomb_limit_of_pillow(tmp_path, monkeypatch):
    Image.new("RGB", (5, 6)).save(tmp_path / "image.bmp")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 20)
    with pytest.raises(InputError, match=r"image\.bmp cannot be read"):
        read_image_of_size(tmp_path / "image.bmp", 5, 6)


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        (np.zeros((3, 3)), r"must be numbers of shape \(n, 2\), got float64 of shape \(3, 3\)"),
        (np.array([[5.0, 700.0]]), "outside"),
        (np.array([[np.nan, 1]]), "outside"),
    ],
)
def test_read_marks_rejects_invalid_marks_by_file_name(tmp_path, marks, message):
    scipy.io.savemat(tmp_path / "img1_others.mat", {"detection": marks})
    with pytest.raises(InputError, match=rf"img1_others\.mat.*{message}.*bagwise data fetch colon-cancer --from"):
        colon._read_marks(tmp_path / "img1_others.mat")
