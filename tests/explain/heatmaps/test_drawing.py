import numpy as np
import pytest
from PIL import Image

from bagwise.explain.heatmaps.colours import coloured, colouring
from bagwise.explain.heatmaps.drawing import Layer, Look, draw_map, save_picture
from bagwise.explain.heatmaps.grounds import open_ground
from bagwise.explain.heatmaps.tiles import Tiles

TILES = Tiles(np.array([[0, 0], [40, 20], [460, 300]]), 20)
WEIGHTS = np.array([0.1, 0.2, 0.7])


@pytest.fixture
def ground(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (320, 480, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "image.png")
    return open_ground(tmp_path / "image.png")


def pixels_of(ground):
    return ground.square(0, 0, 480, 480)[:320]


def test_tiles_have_their_colours_and_the_rest_is_the_image(ground):
    found = draw_map(ground, TILES, Layer(WEIGHTS, "attention weight"), Look(scale="rank", opacity=1.0))
    colours = coloured(np.array([0, 0.5, 1.0]), colouring(False))
    rest = np.ones((320, 480), dtype=bool)
    for (x, y), colour in zip(TILES.positions, colours, strict=True):
        assert (found[y : y + 20, x : x + 20] == colour).all()
        rest[y : y + 20, x : x + 20] = False
    np.testing.assert_array_equal(found[:320][rest], pixels_of(ground)[rest])


def test_contributions_are_drawn_around_a_neutral_zero(ground):
    layer = Layer(np.array([-2.0, 0.0, 1.0]), "contribution", "tumour", signed=True)
    found = draw_map(ground, TILES, layer, Look(scale="raw", opacity=1.0))
    colours = coloured(np.array([-1, 0, 0.5]), colouring(True))
    for (x, y), colour in zip(TILES.positions, colours, strict=True):
        assert (found[y : y + 20, x : x + 20] == colour).all()


def test_region_downsample_and_threshold(ground):
    look = Look(scale="rank", opacity=1.0, threshold=0.9, downsample=2, region=(440, 280, 40, 40))
    found = draw_map(ground, TILES, Layer(WEIGHTS, "attention weight"), look)
    expected = pixels_of(ground)[280:320, 440:480].reshape(20, 2, 20, 2, 3).mean(axis=(1, 3))
    expected[10:, 10:] = coloured(np.ones(1), colouring(False))
    np.testing.assert_allclose(found[:20, :20], expected, atol=1)
    cold = draw_map(ground, TILES, Layer(WEIGHTS, "attention weight"), look._replace(region=(0, 0, 80, 80)))
    np.testing.assert_allclose(
        cold[:40, :40], pixels_of(ground)[:80, :80].reshape(40, 2, 40, 2, 3).mean(axis=(1, 3)), atol=1
    )


def test_a_blur_mixes_neighbours(ground):
    beside = Tiles(np.array([[0, 0], [20, 0]]), 20)
    layer = Layer(np.array([0.0, 1.0]), "attention weight")
    sharp, soft = (draw_map(ground, beside, layer, Look(opacity=1.0, blur=blur))[10] for blur in (0, 8))
    assert len(np.unique(sharp[:40], axis=0)) == 2
    assert len(np.unique(soft[:40], axis=0)) > 10


def test_a_saved_picture_has_the_same_pixels(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (7, 9, 3), dtype=np.uint8)
    with Image.open(save_picture(tmp_path / "new" / "map.png", pixels)) as image:
        np.testing.assert_array_equal(np.asarray(image), pixels)
