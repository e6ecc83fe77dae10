import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.explain.heatmaps import overlay as module
from bagwise.explain.heatmaps.colours import coloured, colouring
from bagwise.explain.heatmaps.overlay import overlay
from bagwise.explain.heatmaps.raster import Heatmap

WEIGHTS = colouring(signed=False)


@pytest.fixture
def image():
    return np.random.default_rng(0).integers(0, 256, (12, 9, 3), dtype=np.uint8)


@pytest.fixture
def heatmap():
    values = np.random.default_rng(1).random((12, 9)).astype(np.float32)
    values[3:5] = np.nan
    return Heatmap(values, (0, 0), 1.0)


@pytest.mark.parametrize("opacity", [0.0, 0.3, 1.0])
def test_colours_are_mixed_by_the_opacity_and_the_rest_is_left_alone(image, heatmap, opacity, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 20)  # two rows at once
    found = overlay(image, heatmap, WEIGHTS, opacity)
    expected = np.rint((1 - opacity) * image + opacity * coloured(heatmap.values, WEIGHTS)).astype(np.uint8)
    expected[3:5] = image[3:5]
    np.testing.assert_array_equal(found, expected)


def test_below_the_threshold_the_picture_shows(image, heatmap):
    found = overlay(image, heatmap, WEIGHTS, 1.0, threshold=0.6)
    drawn = heatmap.values >= 0.6
    np.testing.assert_array_equal(found[~drawn], image[~drawn])
    np.testing.assert_array_equal(found[drawn], coloured(heatmap.values, WEIGHTS)[drawn])


def test_of_signed_values_the_magnitude_counts():
    values = np.array([[-0.9, -0.1, 0.1, 0.9]], dtype=np.float32)
    found = overlay(np.zeros((1, 4, 3), np.uint8), Heatmap(values, (0, 0), 1.0), colouring(True), 1.0, threshold=0.5)
    assert found.any(axis=2).tolist() == [[True, False, False, True]]
    assert found[0, 0, 2] > found[0, 0, 0]
    assert found[0, 3, 0] > found[0, 3, 2]


def test_what_does_not_fit_is_refused(image, heatmap):
    with pytest.raises(InputError, match="cannot carry a map of shape"):
        overlay(image[:-1], heatmap, WEIGHTS)
    with pytest.raises(InputError, match=r"opacity is 1\.5"):
        overlay(image, heatmap, WEIGHTS, 1.5)
