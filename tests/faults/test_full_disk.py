"""Disk full; read-only folder: old files intact, no stump left, one clear message."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.home import find_file
from bagwise.data.datasets.origins import ORIGINS
from bagwise.data.datasets.registry import load_dataset
from bagwise.data.slides.tile_files import tile_to_file
from bagwise.data.slides.tiling import TilingSettings
from bagwise.runs.execution import execute_run
from data.formats.foreign import clam_slide, features, grid
from data.slides.slide_files import PURPLE, write_pyramid
from faults import small_disk
from real_data import HOME

pytest.importorskip("openslide")
MUSK = ORIGINS["musk1"].parts[0]
NAMES = [name for name in small_disk.commands(Path(), Path()) if name != "fetch" or find_file(MUSK, HOME)]
QUICK = [name for name in NAMES if name != "reproduce"]  # which is several comparisons


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    if reason := small_disk.why_not(folder):
        pytest.skip(f"no small file system can be mounted: {reason}")
    return folder


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    """What the commands read: bags, a run, features of another tool, slides, tiles, and a file to fetch."""
    folder = tmp_path_factory.mktemp("material")
    bags = load_dataset("needles", n_bags=20)
    names = [f"bag-{number}" for number in range(len(bags))]
    save_bags(bags.replace(names=names, groups=names), folder / "bags")
    data = {"data": str(folder / "bags"), "options": {}, "test": None}
    execute_run(folder / "run", {"data": data, "parameters": {"epochs": 2, "engine": "torch", "random_state": 0}})
    rows = ["case_id,slide_id,label"]
    (folder / "slides").mkdir()
    for number in range(4):
        size = {"dims": (400_000, 400_000)}
        clam_slide(folder / "clam", f"s{number}", features(300, 64, seed=number), grid(300), **size)
        rows.append(f"c{number},s{number},{number % 2}")
    (folder / "labels.csv").write_text("\n".join(rows))
    for name in ("s0", "s1"):
        write_pyramid(folder / "slides" / f"{name}.tif", stained(), levels=1)
        tile_to_file(folder / "slides" / f"{name}.tif", folder / "tiles", TilingSettings(size=32, mpp=1.0))
    if found := find_file(MUSK, HOME):
        (folder / "musk").mkdir()
        shutil.copy(found, folder / "musk")
    return folder


def stained():
    picture = np.full((768, 768, 3), 230, dtype=np.uint8)
    picture[128:640, 128:640] = np.array(PURPLE) + np.random.default_rng(0).integers(0, 16, (512, 512, 1))
    return picture


def records(disk, material, names, shares):
    given = ",".join(map(str, shares))
    script = [sys.executable, "-W", "ignore", small_disk.__file__, material, disk, given, *names]
    result = small_disk.in_namespace(disk, *script)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def few(disk, material):
    return records(disk, material, QUICK, [0.5])


def told(record):
    """The one paragraph that a command ended with; a bar of progress may stand before it."""
    assert record["code"] == 2, record["said"]
    (said,) = [line for line in record["said"].splitlines() if line.startswith("bagwise: ")]
    assert record["said"].splitlines()[-1] == said
    assert ".tmp-" not in said
    return said


def check(record, disk):
    if record["code"] == 0 and record["share"]:  # what it replaces made room
        assert record["missing"] == record["strange"] == record["hollow"] == []
        return
    said = told(record)
    assert str(disk) in said, "the message names the place"
    if record["share"] is None:
        assert "Read-only file system" in said
    else:
        assert "free some disk space" in said
        assert record["again"] == 0, "with room again, the same command goes on to its end"
        assert record["missing"] == []
    assert record["changed"] == record["strange"] == record["hollow"] == [], record


@pytest.mark.parametrize("name", QUICK)
def test_without_room_nothing_is_lost_and_nothing_half_done_stays(few, disk, name):
    for record in few:
        if record["command"] == name:
            check(record, disk)


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_whatever_the_room_is_that_is_left(disk, material):
    for record in records(disk, material, NAMES, [number / 20 for number in range(20)]):
        check(record, disk)
