import numpy as np
import pytest
from PIL import Image

from bagwise.errors import InputError
from bagwise.explain.heatmaps import map
from bagwise.explain.heatmaps.backgrounds import open_background
from bagwise.explain.heatmaps.map import MapLayer, MapStyle, render_map, save_picture, save_top_tiles, select_top
from bagwise.explain.heatmaps.scales import apply_colours, choose_colour_map
from bagwise.explain.heatmaps.window import TileGrid

TILES = TileGrid(np.array([[0, 0], [40, 20], [460, 300]]), 20)
WEIGHTS = np.array([0.1, 0.2, 0.7])


@pytest.fixture
def background(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (320, 480, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "image.png")
    return open_background(tmp_path / "image.png")


def read_image(background):
    return background.read_square(0, 0, 480, 480)[:320]


def test_render_map_colours_the_tiles_and_keeps_the_rest_of_the_image(background):
    found = render_map(background, TILES, MapLayer(WEIGHTS, "attention weight"), MapStyle(scale="rank", opacity=1.0))
    colours = apply_colours(np.array([0, 0.5, 1.0]), choose_colour_map(False))
    rest = np.ones((320, 480), dtype=bool)
    for (x, y), colour in zip(TILES.positions, colours, strict=True):
        assert (found[y : y + 20, x : x + 20] == colour).all()
        rest[y : y + 20, x : x + 20] = False
    np.testing.assert_array_equal(found[:320][rest], read_image(background)[rest])


def test_render_map_of_contributions_is_neutral_at_zero(background):
    layer = MapLayer(np.array([-2.0, 0.0, 1.0]), "contribution", "tumour", signed=True)
    found = render_map(background, TILES, layer, MapStyle(scale="raw", opacity=1.0))
    colours = apply_colours(np.array([-1, 0, 0.5]), choose_colour_map(True))
    for (x, y), colour in zip(TILES.positions, colours, strict=True):
        assert (found[y : y + 20, x : x + 20] == colour).all()


def test_render_map_applies_region_downsample_and_threshold(background):
    style = MapStyle(scale="rank", opacity=1.0, threshold=0.9, downsample=2, region=(440, 280, 40, 40))
    found = render_map(background, TILES, MapLayer(WEIGHTS, "attention weight"), style)
    expected = read_image(background)[280:320, 440:480].reshape(20, 2, 20, 2, 3).mean(axis=(1, 3))
    expected[10:, 10:] = apply_colours(np.ones(1), choose_colour_map(False))
    np.testing.assert_allclose(found[:20, :20], expected, atol=1)
    below = render_map(background, TILES, MapLayer(WEIGHTS, "attention weight"), style._replace(region=(0, 0, 80, 80)))
    np.testing.assert_allclose(
        below[:40, :40], read_image(background)[:80, :80].reshape(40, 2, 40, 2, 3).mean(axis=(1, 3)), atol=1
    )


def test_render_map_blurs_neighbours(background):
    adjacent = TileGrid(np.array([[0, 0], [20, 0]]), 20)
    layer = MapLayer(np.array([0.0, 1.0]), "attention weight")
    sharp, soft = (render_map(background, adjacent, layer, MapStyle(opacity=1.0, blur=blur))[10] for blur in (0, 8))
    assert len(np.unique(sharp[:40], axis=0)) == 2
    assert len(np.unique(soft[:40], axis=0)) > 10


def test_save_picture_keeps_every_pixel(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (7, 9, 3), dtype=np.uint8)
    with Image.open(save_picture(tmp_path / "new" / "map.png", pixels)) as image:
        np.testing.assert_array_equal(np.asarray(image), pixels)


@pytest.fixture
def pixels():
    return np.random.default_rng(0).integers(0, 256, (60, 90, 3), dtype=np.uint8)


@pytest.fixture
def small_background(tmp_path, pixels):
    Image.fromarray(pixels).save(tmp_path / "image.png")
    return open_background(tmp_path / "image.png")


def read_pixels(path):
    with Image.open(path) as image:
        return np.asarray(image)


def test_save_top_tiles_saves_the_highest_values_first(tmp_path, small_background, pixels):
    tiles = TileGrid(np.array([[0, 0], [20, 10], [50, 40], [70, 0]]), 12)
    files = save_top_tiles(tmp_path / "top", small_background, tiles, np.array([0.25, 0.5, 0.125, 1e-5]), 3)
    assert [file.name for file in files] == ["01-0.5.png", "02-0.25.png", "03-0.125.png"]
    for file, (x, y) in zip(files, ([20, 10], [0, 0], [50, 40]), strict=True):
        np.testing.assert_array_equal(read_pixels(file), pixels[y : y + 12, x : x + 12])


def test_save_top_tiles_saves_fewer_tiles_and_replaces_earlier_ones(tmp_path, small_background):
    tiles = TileGrid(np.array([[0, 0], [20, 10]]), 12)
    save_top_tiles(tmp_path / "top", small_background, tiles, np.array([0.2, 0.8]), 5)
    save_top_tiles(tmp_path / "top", small_background, tiles, np.array([0.9, 0.1]), 5)
    assert sorted(file.name for file in (tmp_path / "top").glob("*.png")) == ["01-0.9.png", "02-0.1.png"]


def test_save_top_tiles_rejects_a_folder_of_other_files(tmp_path, small_background):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="contains other files"):
        save_top_tiles(tmp_path / "mine", small_background, TileGrid(np.zeros((1, 2)), 5), np.ones(1), 1)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"


def test_save_top_tiles_downsamples_large_tiles(tmp_path, small_background, pixels, monkeypatch):
    monkeypatch.setattr(map, "MAX_TILE_SIDE", 10)
    (file,) = save_top_tiles(tmp_path / "top", small_background, TileGrid(np.array([[10, 20]]), 40), np.ones(1), 1)
    expected = pixels[20:60, 10:50].reshape(10, 4, 10, 4, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(read_pixels(file), expected, atol=1)


def test_save_top_tiles_rejects_invalid_input_before_writing(tmp_path, small_background):
    with pytest.raises(InputError, match=r"tile 0 at \(90, 0\) is outside"):
        save_top_tiles(tmp_path / "top", small_background, TileGrid(np.array([[90, 0]]), 5), np.ones(1), 1)
    with pytest.raises(InputError, match="top tiles is 0"):
        save_top_tiles(tmp_path / "top", small_background, TileGrid(np.array([[0, 0]]), 5), np.ones(1), 0)
    assert not (tmp_path / "top").exists()


def test_select_top_keeps_the_order_of_equal_values():
    assert select_top(np.array([0.5, 0.7, 0.5, 0.7]), 4).tolist() == [1, 3, 0, 2]
