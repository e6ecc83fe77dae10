import contextlib
import csv
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("openslide")

from bagwise.bags.folder import BagWriter, load_bags
from bagwise.data.slides.slide import Slide
from bagwise.data.slides.slide_tiles import TilingSettings
from bagwise.data.slides.tile_files import (
    KIND,
    check_bags_folder,
    find_tiles,
    list_tiles,
    read_tiles,
    split_into_regions,
    tile_to_file,
)
from bagwise.errors import InputError
from command_line import bagwise
from data.slides.damage import damaged
from data.slides.slide_files import REAL, TISSUE, needs_real_slide, write_pyramid

SETTINGS = TilingSettings(size=128, mpp=0.5)


@pytest.fixture(scope="module")
def tiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiled")
    write_pyramid(folder / "one.tif")
    return tile_to_file(folder / "one.tif", folder / "tiles", SETTINGS)


def test_tile_to_file_writes_the_tiles_and_their_geometry(tiled):
    assert (tiled.name, tiled.size, tiled.extent, tiled.mpp) == ("one", 128, 256, pytest.approx(0.25))
    assert tiled.slide == (tiled.path.parents[1] / "one.tif").resolve()
    assert len(tiled.positions) == 16
    again = list_tiles(tiled.path.parent)[0]
    np.testing.assert_array_equal(again.positions, tiled.positions)
    assert again.fingerprint == tiled.fingerprint


def test_tile_to_file_writes_a_thumbnail_with_framed_tiles_and_a_pale_background(tiled):
    from PIL import Image

    picture = np.asarray(Image.open(tiled.path.parent / "thumbnails" / "one.png")).astype(int)
    assert picture.shape == (768, 1024, 3)
    left, top, _, _ = (side // 2 for side in TISSUE)
    assert picture[top, left].tolist() == [20, 110, 60]
    assert np.abs(picture[top + 60, left + 60] - [157, 87, 167]).max() < 10  # tissue in full colour
    assert picture[20, 20].max() < 222  # the background is darker than in the slide


def test_find_tiles_finds_equal_tiles_and_rejects_other_settings(tiled):
    assert find_tiles(tiled.slide, tiled.path.parent, SETTINGS).fingerprint == tiled.fingerprint
    assert find_tiles(tiled.path.with_name("two.tif"), tiled.path.parent, SETTINGS) is None
    with pytest.raises(InputError, match=r"one.json was made with size 128, not 64; choose another --out"):
        find_tiles(tiled.slide, tiled.path.parent, SETTINGS._replace(size=64))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "other"}, "is not a tile file"),
        ({"positions": [[0, 0, 0]]}, "is damaged"),
        ({"positions": [[0, "a"]]}, "is damaged"),
        ({"positions": [[2000, 0]]}, "outside its slide of 2048×1536"),
        ({"positions": [[-1, 0]]}, "outside its slide"),
        ({"positions": [[10**30, 0]]}, "is damaged"),
        ({"tile_size": None}, "is damaged"),
        ({"settings": 3}, "is damaged"),
        ({"size": 0}, "is damaged"),
        ({"size": 10**9}, "is damaged"),
        ({"tile_size": -5}, "is damaged"),
        ({"slide": 7}, "is damaged"),
    ],
)
def test_read_tiles_rejects_damaged_files_by_name(tiled, tmp_path, change, message):
    (tmp_path / "one.json").write_text(json.dumps(json.loads(tiled.path.read_text()) | change))
    with pytest.raises(InputError, match=f"one.json.*{message}"):
        read_tiles(tmp_path / "one.json")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 1_000_000))
def test_read_tiles_reads_or_rejects_randomly_damaged_files(tiled, seed):
    path = tiled.path.with_name("damaged.json")
    path.write_bytes(damaged(tiled.path.read_bytes(), seed))
    with contextlib.suppress(InputError):
        found = read_tiles(path)
        assert (found.positions + found.extent <= [found.width, found.height]).all()
    path.unlink()


def test_list_tiles_of_an_empty_folder_gives_the_command_that_makes_tiles(tmp_path):
    with pytest.raises(InputError, match="make them with: bagwise tile"):
        list_tiles(tmp_path)


def test_check_bags_folder_accepts_only_new_folders_and_bags(tmp_path):
    check_bags_folder(tmp_path / "new")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match="contains files that are not bags"):
        check_bags_folder(tmp_path)
    with BagWriter(tmp_path / "bags") as writer:
        writer.add(np.zeros((1, 2)))
    check_bags_folder(tmp_path / "bags")


SIDE, EXTENT = 320, 64


@pytest.fixture
def entry(tmp_path):
    positions = [[x, y] for y in range(0, 460, 50) for x in range(0, 700, 50) if (x, y) != (100, 400)]
    content = {"kind": KIND, "version": 1, "mpp": 0.5, "size": 32, "tile_size": EXTENT, "settings": {}}
    content |= {"positions": positions, "slide": "a.b.svs", "width": 800, "height": 600}
    (tmp_path / "a.b.json").write_text(json.dumps(content))
    return read_tiles(tmp_path / "a.b.json")


def test_split_into_regions_without_side_returns_the_slide(entry):
    [(name, rows)] = split_into_regions(entry)
    assert name == "a.b"
    np.testing.assert_array_equal(entry.positions[rows], entry.positions)


def test_split_into_regions_puts_every_tile_into_the_region_named_by_its_corner(entry):
    found = split_into_regions(entry, SIDE)
    assert sorted(np.concatenate([rows for _, rows in found])) == list(range(len(entry.positions)))
    assert [name for name, _ in found] == [f"a.b@{x}-{y}" for y in (0, 320) for x in (0, 320, 640)]
    for name, rows in found:
        corner = [int(number) for number in name.removeprefix("a.b@").split("-")]
        inside = entry.positions[rows] - corner
        assert inside.min() >= 0
        assert inside.max() < SIDE
        assert (np.diff(rows) > 0).all()  # in the order of the tile file


def test_split_into_regions_rejects_regions_smaller_than_a_tile(entry):
    assert len(split_into_regions(entry, EXTENT)) > 40
    with pytest.raises(InputError, match=r"a.b.json \(64 level-0 pixels\); pass --regions 64 or more"):
        split_into_regions(entry, EXTENT - 1)


def write_stained_slide(path):
    """Write a copy of the real slide, in which the middle tiles of every other region are greener."""
    with Slide(REAL) as slide:
        picture = slide.overview(1).astype(np.float32)
    y, x = np.indices(picture.shape[:2])
    picture[..., 1] = np.where(is_stained(x, y), picture[..., 1] * 0.5 + 127, picture[..., 1])
    write_pyramid(path, picture.astype(np.uint8), mpp=0.5, levels=2)


def is_stained(x, y):
    """Return whether level-0 pixels were made greener; a tile of 64 pixels is changed completely or not at all."""
    chosen = (x // SIDE + y // SIDE) % 2 == 0
    return chosen & (x % SIDE // EXTENT % 4 > 0) & (y % SIDE // EXTENT == 2)


def write_region_labels(bags, path):
    """Write a csv file with the label 1 for regions with a greener tile."""
    stained = is_stained(*bags.positions.T)
    labels = [int(stained[bags.offsets[bag] : bags.offsets[bag + 1]].any()) for bag in range(len(bags))]
    assert 10 <= sum(labels) <= len(labels) - 10
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("slide_id", "label"), *zip(bags.names, labels, strict=True)])


def is_heaviest_tile_stained(bags, bag, weights):
    rows = slice(bags.offsets[bag], bags.offsets[bag + 1])
    return is_stained(*bags.positions[rows][np.argmax(weights[rows])])


@needs_real_slide
def test_tile_extract_and_train_on_regions_of_the_real_slide_find_the_stained_tiles(tmp_path):
    write_stained_slide(tmp_path / "slide.tif")

    def run(*words):
        result = bagwise(*words, cwd=tmp_path)
        assert result.returncode == 0, result
        return result.stdout

    run("tile", "slide.tif", "--out", "tiles", "--size", "16", "--mpp", "2")
    output = run("extract", "tiles", "--out", "names", "--regions", str(SIDE))
    assert "names/bags.csv" in output
    write_region_labels(load_bags(tmp_path / "names"), tmp_path / "labels.csv")
    output = run("extract", "tiles", "--out", "bags", "--regions", str(SIDE), "--labels", "labels.csv")
    assert "0 slides extracted, 1 done before" in output
    train = "train bags run --test 0.4 --preset paper --epochs 60 --batch-size 4 --learning-rate 1e-3 --seed 1"
    assert json.loads(run(*train.split(), "--engine", "torch", "--json"))["metrics"]["bags"]["accuracy"]["value"] >= 0.8
    run("predict", "run", "bags", "--out", "predictions.csv", "--weights", "weights.csv")
    bags = load_bags(tmp_path / "bags")
    with (tmp_path / "weights.csv").open() as stream:
        weights = np.array([float(row["weight"]) for row in csv.DictReader(stream)])
    found = [is_heaviest_tile_stained(bags, bag, weights) for bag in np.flatnonzero(bags.labels)]
    assert np.mean(found) >= 0.8
