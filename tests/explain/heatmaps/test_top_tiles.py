import numpy as np
import pytest
from PIL import Image

from bagwise.errors import InputError
from bagwise.explain.heatmaps import top_tiles
from bagwise.explain.heatmaps.grounds import open_ground
from bagwise.explain.heatmaps.tiles import Tiles
from bagwise.explain.heatmaps.top_tiles import save_top_tiles, top


@pytest.fixture
def pixels():
    return np.random.default_rng(0).integers(0, 256, (60, 90, 3), dtype=np.uint8)


@pytest.fixture
def ground(tmp_path, pixels):
    Image.fromarray(pixels).save(tmp_path / "image.png")
    return open_ground(tmp_path / "image.png")


def read(path):
    with Image.open(path) as image:
        return np.asarray(image)


def test_the_greatest_come_first_with_their_own_pixels(tmp_path, ground, pixels):
    tiles = Tiles(np.array([[0, 0], [20, 10], [50, 40], [70, 0]]), 12)
    files = save_top_tiles(tmp_path / "top", ground, tiles, np.array([0.25, 0.5, 0.125, 1e-5]), 3)
    assert [file.name for file in files] == ["01-0.5.png", "02-0.25.png", "03-0.125.png"]
    for file, (x, y) in zip(files, ([20, 10], [0, 0], [50, 40]), strict=True):
        np.testing.assert_array_equal(read(file), pixels[y : y + 12, x : x + 12])


def test_fewer_tiles_than_wanted_are_all_saved_and_an_older_choice_goes(tmp_path, ground):
    tiles = Tiles(np.array([[0, 0], [20, 10]]), 12)
    save_top_tiles(tmp_path / "top", ground, tiles, np.array([0.2, 0.8]), 5)
    save_top_tiles(tmp_path / "top", ground, tiles, np.array([0.9, 0.1]), 5)
    assert sorted(file.name for file in (tmp_path / "top").glob("*.png")) == ["01-0.9.png", "02-0.1.png"]


def test_a_folder_of_other_files_is_left_alone(tmp_path, ground):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        save_top_tiles(tmp_path / "mine", ground, Tiles(np.zeros((1, 2)), 5), np.ones(1), 1)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"


def test_large_tiles_are_reduced(tmp_path, ground, pixels, monkeypatch):
    monkeypatch.setattr(top_tiles, "LARGEST", 10)
    (file,) = save_top_tiles(tmp_path / "top", ground, Tiles(np.array([[10, 20]]), 40), np.ones(1), 1)
    expected = pixels[20:60, 10:50].reshape(10, 4, 10, 4, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(read(file), expected, atol=1)


def test_what_cannot_be_is_refused_before_anything_is_written(tmp_path, ground):
    with pytest.raises(InputError, match=r"tile 0 at \(90, 0\) lies outside"):
        save_top_tiles(tmp_path / "top", ground, Tiles(np.array([[90, 0]]), 5), np.ones(1), 1)
    with pytest.raises(InputError, match="top tiles is 0"):
        save_top_tiles(tmp_path / "top", ground, Tiles(np.array([[0, 0]]), 5), np.ones(1), 0)
    assert not (tmp_path / "top").exists()


def test_of_equal_values_the_first_comes_first():
    assert top(np.array([0.5, 0.7, 0.5, 0.7]), 4).tolist() == [1, 3, 0, 2]
