import re

import numpy as np
import pytest
from PIL import Image

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.explain.heatmaps.backgrounds import open_background
from bagwise.explain.heatmaps.map import save_picture
from bagwise.explain.panels import MAX_SIDE, find_pictures, has_panels, open_bag_background, render_panels
from bagwise.runs.run import Run

SIDE = 8
WEIGHTS, OTHER = np.array([0.1, 0.3, 0.6]), np.array([0.9, 0.1, 0.5])


@pytest.fixture
def image():
    return np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)


@pytest.fixture
def background(image, tmp_path):
    with open_background(save_picture(tmp_path / "image.png", image)) as background:
        yield background


def bag(**fields):
    return Bags(
        np.zeros((3, 4)),
        np.array([0, 3]),
        positions=np.array([[0, 0], [8, 8], [24, 16]]),
        tile_sizes=np.array([SIDE]),
        **fields,
    )


def patch(picture, number):
    x, y = bag().positions[number]
    return picture[y : y + SIDE, x : x + SIDE]


def test_render_panels_are_the_image_and_its_patches_times_their_factors(background, image):
    found = render_panels(bag(instance_labels=np.array([0, 1, 0])), background, WEIGHTS, {"max": OTHER})
    assert list(found) == ["(a) image", "(b) patches", "(c) key instances", "(d) weights", "(e) max"]
    np.testing.assert_array_equal(found["(a) image"], image)
    factors = {"(b) patches": [1, 1, 1], "(c) key instances": [0, 1, 0], "(d) weights": [0, 0.4, 1]}
    factors["(e) max"] = [1, 0, 0.5]
    for title, expected in factors.items():
        for number, factor in enumerate(expected):
            np.testing.assert_array_equal(patch(found[title], number), np.round(patch(image, number) * factor))
        assert not found[title][:8, 8:].any()


def test_render_panels_omits_unknown_panels_and_keeps_the_letters(background):
    assert list(render_panels(bag(), background, WEIGHTS, {})) == ["(a) image", "(b) patches", "(d) weights"]


def test_render_panels_applies_another_scale(background, image):
    found = render_panels(bag(), background, WEIGHTS, {}, scale="rank")["(d) weights"]
    np.testing.assert_array_equal(patch(found, 1), np.round(patch(image, 1) * 0.5))


def test_has_panels_is_false_for_large_images(background):
    assert has_panels(background)
    background.width = MAX_SIDE + 1
    assert not has_panels(background)


@pytest.fixture(scope="module")
def run(image_runs):
    return Run(image_runs / "attention")


def test_open_bag_background_opens_the_image_that_the_bag_was_cut_from(run, images):
    for row in run.predictions:
        with open_bag_background(run, row["bag"]) as background, Image.open(images / row["bag"]) as expected:
            assert background.size == expected.size
            np.testing.assert_array_equal(background.read_square(0, 0, 32, 32), np.asarray(expected)[:32, :32])


def test_find_pictures_returns_none_for_data_without_images(digits_run):
    assert find_pictures(digits_run) is None
    assert open_bag_background(digits_run, digits_run.predictions[0]["bag"]) is None


def test_open_bag_background_names_the_bag_missing_from_a_given_folder(run, tmp_path):
    name = run.predictions[0]["bag"]
    with pytest.raises(InputError, match=re.escape(f"contains no picture of bag '{name}'")):
        open_bag_background(run, name, tmp_path)
