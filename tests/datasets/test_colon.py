import numpy as np
import pytest
import scipy.io
from PIL import Image

from bagwise.datasets import colon
from bagwise.errors import InputError
from real_data import HOME, needs_real_data

FOLDER = HOME / "colon_cancer" / "CRCHistoPhenotypes_2016_04_28" / "Classification"
real = needs_real_data("colon-cancer")


@pytest.fixture(scope="module")
def bags():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BAGWISE_DATA", str(HOME))
        return colon.load()


@real
def test_the_counts_are_the_published_ones(bags):
    assert bags.names.tolist() == [f"img{number}" for number in range(1, 101)]
    assert (bags.n_instances, bags.instance_labels.sum()) == (22_444, 7722)
    assert (bags.labels.sum(), len(bags)) == (51, 100)
    assert bags.sizes[[75, 95, 73]].tolist() == [1, 6, 8]
    assert (bags.sizes.max(), np.median(bags.sizes), round(bags.sizes.mean(), 1)) == (796, 171, 224.4)
    held = np.add.reduceat(bags.instance_labels, bags.offsets[:-1])
    np.testing.assert_array_equal(held > 0, bags.labels == 1)
    assert held[bags.labels == 1].min() > 5


@real
def test_a_patch_is_the_image_at_its_position_and_inside_it(bags):
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


@real
def test_a_margin_shows_what_lies_around_a_patch_and_changes_nothing_else(bags):
    """Mirrored beyond the border, so that the middle is the patch without a margin and the rest is real tissue."""
    wide = colon.load(margin=5)
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
def test_an_impossible_margin_is_refused(margin):
    with pytest.raises(InputError, match=f"margin is {margin}; give from 0 to 27 pixels"):
        colon.load(margin=margin)


@real
def test_every_mark_is_in_the_middle_of_a_patch_whatever_type_its_file_has(bags):
    """In bytes, x − 13 would wrap around and put patches to the far border."""
    seen = set()
    for bag in range(0, 100, 7):
        for kind in colon.CLASSES:
            raw = scipy.io.loadmat(FOLDER / f"img{bag + 1}" / f"img{bag + 1}_{kind}.mat")["detection"]
            seen.add(str(raw.dtype))
            marks = raw.astype(float)
            inside = marks[((marks > 14) & (marks < 486)).all(axis=1)]
            own = slice(bags.offsets[bag], bags.offsets[bag + 1])
            middles = bags.positions[own][bags.instance_labels[own] == (kind == "epithelial")] + 14  # counted from 1
            for mark in inside:
                assert np.abs(middles - mark).max(axis=1).min() <= 0.5
    assert {"uint8", "float64"} <= seen


@real
def test_the_marks_count_from_one(bags):
    """The mean patch is darkest around the mark, hence symmetric about its middle pixel, only if 1 is taken away."""
    free = ((bags.positions > 0) & (bags.positions < 500 - 27)).all(axis=1)
    mean = bags.instances[free][..., :3].mean(axis=(0, 3))

    def asymmetry(x, y):
        part = mean[13 + y - 9 : 13 + y + 10, 13 + x - 9 : 13 + x + 10]
        return np.abs(part - part[::-1, ::-1]).sum()

    shifts = [(x, y) for x in range(-2, 3) for y in range(-2, 3)]
    assert min(shifts, key=lambda shift: asymmetry(*shift)) == (0, 0)


def test_patches_at_the_border_are_slid_inward():
    corners = colon.upper_left(np.array([[0.15, 250.0], [500.0, 499.6], [14.0, 14.4], [15.0, 15.6]]))
    assert corners.tolist() == [[0, 236], [473, 473], [0, 0], [1, 2]]


@pytest.mark.parametrize(
    ("marks", "message"),
    [(np.zeros((3, 3)), "instead of"), (np.array([[5.0, 700.0]]), "outside"), (np.array([[np.nan, 1]]), "outside")],
)
def test_marks_that_cannot_be_are_refused_by_name(tmp_path, marks, message):
    scipy.io.savemat(tmp_path / "img1_others.mat", {"detection": marks})
    with pytest.raises(InputError, match=rf"img1_others\.mat.*{message}"):
        colon._marks(tmp_path / "img1_others.mat")
