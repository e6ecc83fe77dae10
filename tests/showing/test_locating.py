import numpy as np
import pytest
from PIL import Image

from bagwise.errors import InputError
from bagwise.runs import Run
from bagwise.showing.locating import open_picture, pictures_of


@pytest.fixture(scope="module")
def run(image_runs):
    return Run(image_runs / "attention")


def test_the_picture_of_a_bag_is_the_image_it_was_cut_from(run, images):
    for row in run.predictions:
        with open_picture(run, row["bag"]) as ground, Image.open(images / row["bag"]) as expected:
            assert ground.size == expected.size
            np.testing.assert_array_equal(ground.square(0, 0, 32, 32), np.asarray(expected)[:32, :32])


def test_bags_that_are_no_images_have_none(digits_run):
    assert pictures_of(digits_run) is None
    assert open_picture(digits_run, digits_run.predictions[0]["bag"]) is None


def test_a_folder_that_is_named_must_hold_it(run, tmp_path):
    with pytest.raises(InputError, match="holds no picture of bag"):
        open_picture(run, run.predictions[0]["bag"], tmp_path)
