import numpy as np
from PIL import Image

from bagwise.nn.grey_levels import LUMA, WHITE


def test_luma_matches_the_grey_values_of_pillow():
    colours = np.random.default_rng(0).integers(0, 256, size=(20, 20, 3), dtype=np.uint8)
    grey = np.asarray(Image.fromarray(colours).convert("L"), dtype=float)
    np.testing.assert_allclose(colours @ LUMA, grey, atol=1)


def test_white_separates_background_from_stained_tissue():
    assert np.array([255, 255, 255]) @ LUMA > WHITE
    assert np.array([200, 120, 180]) @ LUMA < WHITE
