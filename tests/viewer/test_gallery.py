import numpy as np
import pytest
from PIL import Image

from bagwise.errors import InputError
from bagwise.explain.heatmaps.pictures import Pictures
from bagwise.runs import Run, execute
from bagwise.showing.shown_run import ShownRun
from bagwise.viewer.gallery import Gallery


@pytest.fixture(scope="module")
def shown(image_runs):
    return ShownRun(Run(image_runs / "attention"))


def pixels_of(path):
    return np.asarray(Image.open(path).convert("RGB"))


def test_the_picture_of_a_bag_is_its_own_image_however_it_is_called(shown, images):
    gallery = Gallery(shown)
    for bag, row in enumerate(shown.run.predictions):
        found = gallery.of_bag(bag)
        assert found.problem is None
        np.testing.assert_array_equal(found.picture.square(0, 0, 64, 64), pixels_of(images / row["bag"])[:64, :64])


def test_an_instance_that_is_an_image_is_shown_pixel_by_pixel(shown, images):
    x, y = shown.bag(0).positions[7].tolist()
    expected = pixels_of(images / shown.run.predictions[0]["bag"])[y : y + 16, x : x + 16]
    np.testing.assert_array_equal(Gallery(shown).of_instance(0, 7), expected)


def test_digits_have_no_picture_of_the_bag_but_of_each_instance(digits_run):
    shown = ShownRun(digits_run)
    gallery = Gallery(shown)
    assert gallery.of_bag(0) == (None, None)
    digit, found = shown.bag(0).instances[3].astype(float), gallery.of_instance(0, 3).astype(float)
    assert np.corrcoef(digit.ravel(), found.ravel())[0, 1] > 0.9999
    with pytest.raises(IndexError):
        gallery.tile(0, 8, 0, 0)


def test_pictures_of_a_folder_that_was_given_must_be_there(shown, tmp_path):
    found = Gallery(shown, Pictures.of_folder(tmp_path)).of_bag(0)
    assert found.picture is None
    assert "no picture of bag" in found.problem


def test_a_link_that_leads_out_of_the_folder_is_not_followed(shown, images, tmp_path):
    row = next(row for row in shown.run.predictions if row["bag"].startswith("dark/"))
    bag = shown.run.predictions.index(row)
    (tmp_path / "dark").mkdir()
    (tmp_path / row["bag"]).symlink_to(images / row["bag"])
    assert Gallery(shown, Pictures.of_folder(tmp_path)).of_bag(bag).picture is None
    (tmp_path / row["bag"]).unlink()
    (tmp_path / row["bag"]).write_bytes((images / row["bag"]).read_bytes())
    assert Gallery(shown, Pictures.of_folder(tmp_path)).of_bag(bag).picture is not None


def test_a_damaged_picture_is_told_and_the_rest_goes_on(shown, tmp_path):
    name = shown.run.predictions[0]["bag"]
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_bytes(b"no image")
    assert "cannot be read as an image" in Gallery(shown, Pictures.of_folder(tmp_path)).of_bag(0).problem


def test_instances_that_cannot_be_seen_are_refused(tmp_path):
    data = {"data": "needles", "options": {"n_bags": 20}, "test": None, "split_seed": 1}
    run = execute(tmp_path / "run", {"data": data, "parameters": {"epochs": 1, "random_state": 1}})
    with pytest.raises(InputError, match="no picture"):
        Gallery(ShownRun(run)).of_instance(0, 0)
