import numpy as np
import pytest
from PIL import Image

from bagwise.bags import Bags
from bagwise.explain import Curve
from bagwise.showing.bag_pictures import MOST_IN_STRIP, save_curves, save_panels, save_strip

CURVE = Curve(np.array([0, 0.5, 1]), np.array([0.9, 0.4, 0.5]), np.array([0.5, 0.7, 0.9]), 0.5, 0.7)


def pixels(path):
    with Image.open(path) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB"))


def digits(count, key=None):
    instances = np.random.default_rng(1).random((count, 8, 8))
    return Bags(instances, np.array([0, count]), instance_labels=key)


def test_a_strip_frames_key_instances(tmp_path):
    weights = np.array([0.7, 0.2, 0.1])
    plain = pixels(save_strip(tmp_path / "a.png", digits(3, np.zeros(3)), weights, "a $bag$"))
    framed = pixels(save_strip(tmp_path / "b.png", digits(3, np.array([0, 1, 0])), weights, "a $bag$"))
    orange = (np.abs(framed.astype(int) - [213, 94, 0]) < 30).all(axis=2)
    assert orange.sum() > 100
    assert not (np.abs(plain.astype(int) - [213, 94, 0]) < 30).all(axis=2).any()


def test_a_strip_of_a_large_bag_shows_the_greatest_and_no_more(tmp_path):
    weights = np.linspace(0, 1, 500)
    shown = pixels(save_strip(tmp_path / "large.png", digits(500), weights / weights.sum(), "large"))
    few = pixels(save_strip(tmp_path / "few.png", digits(MOST_IN_STRIP), np.full(MOST_IN_STRIP, 1.0), "few"))
    assert shown.shape == few.shape


@pytest.mark.parametrize("title", ["plain", "with $dollars$ and <tags>"])
def test_curves_and_panels_are_pictures_on_white(tmp_path, title):
    assert (pixels(save_curves(tmp_path / "curves.png", CURVE, title))[0] == 255).all()
    two = {"(a)": np.zeros((4, 4, 3), np.uint8), "(b)": np.full((4, 4, 3), 200, np.uint8)}
    found = pixels(save_panels(tmp_path / "panels.png", two, title))
    assert (found == 200).all(axis=2).sum() > 10_000
