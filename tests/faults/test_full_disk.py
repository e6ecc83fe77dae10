"""Full disks and read-only folders: existing files stay intact, no partial file remains, a message names the path."""

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
from bagwise.data.slides.slide_tiles import TilingSettings
from bagwise.data.slides.tile_files import tile_to_file
from bagwise.runs.execution import execute_run
from data.formats.foreign import clam_slide, features, grid
from data.slides.slide_files import PURPLE, write_pyramid
from faults import small_disk
from real_data import HOME

pytest.importorskip("openslide")
MUSK = ORIGINS["musk1"].parts[0]
NAMES = [name for name in small_disk.make_commands(Path(), Path()) if name != "fetch" or find_file(MUSK, HOME)]
QUICK = [name for name in NAMES if name != "reproduce"]  # reproduce runs comparisons


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    if reason := small_disk.find_obstacle(folder):
        pytest.skip(f"no small file system can be mounted: {reason}")
    return folder


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Return inputs of the commands: bags, a run, features of another tool, slides, tiles, and a file to fetch."""
    folder = tmp_path_factory.mktemp("inputs")
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
        write_pyramid(folder / "slides" / f"{name}.tif", paint_tissue(), levels=1)
        tile_to_file(folder / "slides" / f"{name}.tif", folder / "tiles", TilingSettings(size=32, mpp=1.0))
    if found := find_file(MUSK, HOME):
        (folder / "musk").mkdir()
        shutil.copy(found, folder / "musk")
    return folder


def paint_tissue():
    picture = np.full((768, 768, 3), 230, dtype=np.uint8)
    picture[128:640, 128:640] = np.array(PURPLE) + np.random.default_rng(0).integers(0, 16, (512, 512, 1))
    return picture


def run_commands(disk, inputs, names, fractions):
    listed_fractions = ",".join(map(str, fractions))
    script = [sys.executable, "-W", "ignore", small_disk.__file__, inputs, disk, listed_fractions, *names]
    result = small_disk.in_namespace(disk, *script)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def quick_records(disk, inputs):
    return run_commands(disk, inputs, QUICK, [0.5])


def get_message(record):
    """Return the only message of a command, which is its last line; a progress bar may precede it."""
    assert record["code"] == 2, record["error"]
    (message,) = [line for line in record["error"].splitlines() if line.startswith("bagwise: ")]
    assert record["error"].splitlines()[-1] == message
    assert ".tmp-" not in message
    return message


def check_record(record, disk):
    if record["code"] == 0 and record["fraction"]:  # the replaced file left enough space
        assert record["missing"] == record["unexpected"] == record["empty_folders"] == []
        return
    message = get_message(record)
    assert str(disk) in message
    if record["fraction"] is None:
        assert "Read-only file system" in message
    else:
        assert "free some disk space" in message
        assert record["second_code"] == 0, "the same command must succeed with enough space"
        assert record["missing"] == []
    assert record["changed"] == record["unexpected"] == record["empty_folders"] == [], record


@pytest.mark.parametrize("name", QUICK)
def test_command_on_a_full_or_read_only_disk_loses_nothing_and_names_the_path(quick_records, disk, name):
    for record in quick_records:
        if record["command"] == name:
            check_record(record, disk)


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_commands_with_any_free_space_lose_nothing_and_name_the_path(disk, inputs):
    for record in run_commands(disk, inputs, NAMES, [number / 20 for number in range(20)]):
        check_record(record, disk)
