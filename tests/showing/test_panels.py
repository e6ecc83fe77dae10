import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.explain.heatmaps import open_ground, save_picture
from bagwise.showing.panels import LARGEST, has_panels, panels

SIDE = 8
WEIGHTS, OTHER = np.array([0.1, 0.3, 0.6]), np.array([0.9, 0.1, 0.5])


@pytest.fixture
def image():
    return np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)


@pytest.fixture
def ground(image, tmp_path):
    with open_ground(save_picture(tmp_path / "image.png", image)) as ground:
        yield ground


def bag(**words):
    return Bags(
        np.zeros((3, 4)),
        np.array([0, 3]),
        positions=np.array([[0, 0], [8, 8], [24, 16]]),
        tile_sizes=np.array([SIDE]),
        **words,
    )


def patch(picture, number):
    x, y = bag().positions[number]
    return picture[y : y + SIDE, x : x + SIDE]


def test_the_five_panels_are_the_image_and_its_patches_times_their_factors(ground, image):
    found = panels(bag(instance_labels=np.array([0, 1, 0])), ground, WEIGHTS, {"max": OTHER})
    assert list(found) == ["(a) image", "(b) patches", "(c) key instances", "(d) weights", "(e) max"]
    np.testing.assert_array_equal(found["(a) image"], image)
    factors = {"(b) patches": [1, 1, 1], "(c) key instances": [0, 1, 0], "(d) weights": [0, 0.4, 1]}
    factors["(e) max"] = [1, 0, 0.5]
    for title, expected in factors.items():
        for number, factor in enumerate(expected):
            np.testing.assert_array_equal(patch(found[title], number), np.round(patch(image, number) * factor))
        assert not found[title][:8, 8:].any()


def test_what_is_not_known_is_left_out_and_the_letters_stay(ground):
    assert list(panels(bag(), ground, WEIGHTS, {})) == ["(a) image", "(b) patches", "(d) weights"]


def test_the_scale_can_be_another(ground, image):
    found = panels(bag(), ground, WEIGHTS, {}, scale="rank")["(d) weights"]
    np.testing.assert_array_equal(patch(found, 1), np.round(patch(image, 1) * 0.5))


def test_slides_have_none(ground):
    assert has_panels(ground)
    ground.width = LARGEST + 1
    assert not has_panels(ground)
