"""Tile files: what was written is read, in whichever way it is damaged it is refused."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.errors import InputError
from bagwise.slides.tile_files import check_target, find_tiles, list_tiles, read_tiles, tile_to_file
from bagwise.slides.tiling import Wish
from bagwise.writing import BagWriter
from slides.damage import damaged
from slides.slide_files import TISSUE, write_pyramid

pytest.importorskip("openslide")
WISH = Wish(size=128, mpp=0.5)


@pytest.fixture(scope="module")
def tiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiled")
    write_pyramid(folder / "one.tif")
    return tile_to_file(folder / "one.tif", folder / "tiles", WISH)


def test_a_tile_file_says_what_is_needed(tiled):
    assert (tiled.name, tiled.size, tiled.extent, tiled.mpp) == ("one", 128, 256, pytest.approx(0.25))
    assert tiled.slide == (tiled.path.parents[1] / "one.tif").resolve()
    assert len(tiled.positions) == 16
    again = list_tiles(tiled.path.parent)[0]
    np.testing.assert_array_equal(again.positions, tiled.positions)
    assert again.fingerprint == tiled.fingerprint


def test_the_thumbnail_frames_the_tiles_and_pales_the_ground(tiled):
    from PIL import Image

    picture = np.asarray(Image.open(tiled.path.parent / "thumbnails" / "one.png")).astype(int)
    assert picture.shape == (768, 1024, 3)
    left, top, _, _ = (side // 2 for side in TISSUE)
    assert picture[top, left].tolist() == [20, 110, 60]
    assert np.abs(picture[top + 60, left + 60] - [157, 87, 167]).max() < 10  # tissue in its own colour
    assert picture[20, 20].max() < 222  # the ground is darker than it was


def test_tiles_done_before_are_found_and_other_ones_refused(tiled):
    assert find_tiles(tiled.slide, tiled.path.parent, WISH).fingerprint == tiled.fingerprint
    assert find_tiles(tiled.path.with_name("two.tif"), tiled.path.parent, WISH) is None
    with pytest.raises(InputError, match=r"one.json was made with size 128, not 64; choose another --out"):
        find_tiles(tiled.slide, tiled.path.parent, WISH._replace(size=64))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "other"}, "is not a file of tiles"),
        ({"positions": [[0, 0, 0]]}, "is damaged"),
        ({"positions": [[0, "a"]]}, "is damaged"),
        ({"positions": [[2000, 0]]}, "outside its slide of 2048×1536"),
        ({"positions": [[-1, 0]]}, "outside its slide"),
        ({"positions": [[10**30, 0]]}, "is damaged"),
        ({"tile_size": None}, "is damaged"),
        ({"wish": 3}, "is damaged"),
        ({"size": 0}, "is damaged"),
        ({"size": 10**9}, "is damaged"),
        ({"tile_size": -5}, "is damaged"),
        ({"slide": 7}, "is damaged"),
    ],
)
def test_damage_is_refused_by_name(tiled, tmp_path, change, message):
    (tmp_path / "one.json").write_text(json.dumps(json.loads(tiled.path.read_text()) | change))
    with pytest.raises(InputError, match=f"one.json.*{message}"):
        read_tiles(tmp_path / "one.json")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 1_000_000))
def test_damaged_tile_files_are_read_or_refused(tiled, seed):
    path = tiled.path.with_name("damaged.json")
    path.write_bytes(damaged(tiled.path.read_bytes(), seed))
    with contextlib.suppress(InputError):
        found = read_tiles(path)
        assert (found.positions + found.extent <= [found.width, found.height]).all()
    path.unlink()


def test_an_empty_folder_says_how_to_make_tiles(tmp_path):
    with pytest.raises(InputError, match="make them with: bagwise tile"):
        list_tiles(tmp_path)


def test_only_bags_are_ever_replaced(tmp_path):
    check_target(tmp_path / "new")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match="holds files that are not bags"):
        check_target(tmp_path)
    with BagWriter(tmp_path / "bags") as writer:
        writer.add(np.zeros((1, 2)))
    check_target(tmp_path / "bags")
