"""Regions: every tile of a slide in one, and from a real slide to a model that finds what was planted in them."""

import csv
import json

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.slides.regions import regions
from bagwise.slides.slide import Slide
from bagwise.slides.tile_files import KIND, read_tiles
from bagwise.storage import load_bags
from command_line import bagwise
from slides.slide_files import REAL, needs_real_slide, write_pyramid

SIDE, EXTENT = 320, 64


@pytest.fixture
def entry(tmp_path):
    corners = [[x, y] for y in range(0, 460, 50) for x in range(0, 700, 50) if (x, y) != (100, 400)]
    facts = {"kind": KIND, "version": 1, "mpp": 0.5, "size": 32, "tile_size": EXTENT, "wish": {}, "positions": corners}
    (tmp_path / "a.b.json").write_text(json.dumps(facts | {"slide": "a.b.svs", "width": 800, "height": 600}))
    return read_tiles(tmp_path / "a.b.json")


def test_without_a_side_the_slide_is_the_region(entry):
    [(name, rows)] = regions(entry)
    assert name == "a.b"
    np.testing.assert_array_equal(entry.positions[rows], entry.positions)


def test_every_tile_lies_in_one_region_whose_name_says_where(entry):
    found = regions(entry, SIDE)
    assert sorted(np.concatenate([rows for _, rows in found])) == list(range(len(entry.positions)))
    assert [name for name, _ in found] == [f"a.b@{x}-{y}" for y in (0, 320) for x in (0, 320, 640)]
    for name, rows in found:
        corner = [int(number) for number in name.removeprefix("a.b@").split("-")]
        inside = entry.positions[rows] - corner
        assert inside.min() >= 0
        assert inside.max() < SIDE
        assert (np.diff(rows) > 0).all()  # in the order of the slide


def test_regions_hold_at_least_a_tile(entry):
    assert len(regions(entry, EXTENT)) > 40
    with pytest.raises(InputError, match=r"a.b.json 64 level-0 pixels wide; pass --regions 64 or more"):
        regions(entry, EXTENT - 1)


def plant(path):
    """A copy of the real slide: in every other region, the tiles in its middle are stained greener."""
    with Slide(REAL) as slide:
        picture = slide.overview(1).astype(np.float32)
    y, x = np.indices(picture.shape[:2])
    picture[..., 1] = np.where(is_planted(x, y), picture[..., 1] * 0.5 + 127, picture[..., 1])
    write_pyramid(path, picture.astype(np.uint8), mpp=0.5, levels=2)


def is_planted(x, y):
    """Whether level-0 pixels were stained; tiles of 64 pixels are stained as a whole or not at all."""
    chosen = (x // SIDE + y // SIDE) % 2 == 0
    return chosen & (x % SIDE // EXTENT % 4 > 0) & (y % SIDE // EXTENT == 2)


@needs_real_slide
def test_a_model_learns_from_regions_of_the_slide_and_finds_what_was_planted(tmp_path):
    pytest.importorskip("openslide")
    plant(tmp_path / "slide.tif")

    def run(*words):
        result = bagwise(*words, cwd=tmp_path)
        assert result.returncode == 0, result
        return result.stdout

    run("tile", "slide.tif", "--out", "tiles", "--size", "16", "--mpp", "2")
    said = run("extract", "tiles", "--out", "names", "--regions", str(SIDE))
    assert "list labels for the names in names/bags.csv" in said
    label(load_bags(tmp_path / "names"), tmp_path / "labels.csv")
    said = run("extract", "tiles", "--out", "bags", "--regions", str(SIDE), "--labels", "labels.csv")
    assert "0 slides extracted, 1 done before" in said
    train = "train bags run --test 0.4 --epochs 60 --batch-size 4 --learning-rate 1e-3 --seed 1 --engine torch --json"
    assert json.loads(run(*train.split()))["metrics"]["bags"]["accuracy"]["value"] >= 0.8
    run("predict", "run", "bags", "--out", "predictions.csv", "--weights", "weights.csv")
    bags = load_bags(tmp_path / "bags")
    with (tmp_path / "weights.csv").open() as stream:
        weights = np.array([float(row["weight"]) for row in csv.DictReader(stream)])
    assert np.mean([hit(bags, bag, weights) for bag in np.flatnonzero(bags.labels)]) >= 0.8


def label(bags, path):
    """A csv that says in which regions a tile was planted."""
    planted = is_planted(*bags.positions.T)
    labels = [int(planted[bags.offsets[bag] : bags.offsets[bag + 1]].any()) for bag in range(len(bags))]
    assert 10 <= sum(labels) <= len(labels) - 10
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("slide_id", "label"), *zip(bags.names, labels, strict=True)])


def hit(bags, bag, weights):
    """Whether the tile of a bag that counts most was planted."""
    rows = slice(bags.offsets[bag], bags.offsets[bag + 1])
    return is_planted(*bags.positions[rows][np.argmax(weights[rows])])
