"""A worker dies in `compare`, `reproduce`, extraction, `import`: its work is done again with identical result."""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from bagwise.io.manifest import find_damage, hash_file
from data.formats.foreign import features, grid, trident_slide, write_table
from faults.processes import left_behind, workers_of
from faults.tiny_experiment import numbers, words

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 5))]
COMPARE = ("needles", "--methods", "attention", "--engine", "torch", "--epochs", "60", "--folds", "6", "--quiet")
pytestmark = pytest.mark.timeout(1200)  # of the long forms on a busy machine


def kill_a_worker(child, place, draws, sign="units/*/*.json"):
    """At a random moment after the first unit is written, or another sign is seen."""
    child.wait_until(lambda: any(place.rglob(sign)))
    time.sleep(draws.uniform(0, 0.2))
    victim = draws.choice(workers_of(child.pid))
    os.kill(victim, signal.SIGKILL)
    assert child.wait() == 0, child.said.read_text()
    assert left_behind(place) == []


def hashes(folder):
    return {path.name: hash_file(path) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def tiled(tmp_path_factory, nursery, slides):
    """Many small tiles, fewer larger ones, and the bags that one process makes of each."""
    place = tmp_path_factory.mktemp("tiled")
    slides.tile_into(place / "many")
    nursery.run(["tile", slides.folder, "--out", "few", "--size", "32", "--mpp", "0.25", "--quiet"], place)
    for name in ("many", "few"):
        shutil.copytree(place / name, place / f"copy of {name}")
        nursery.run(["extract", f"copy of {name}", "--out", f"bags of {name}", "--quiet"], place)
    return place


@pytest.fixture(scope="module")
def imported(tmp_path_factory, nursery):
    """An import of slides whose many chunks take a while to read, and the bags that one process makes of them."""
    place, rows = tmp_path_factory.mktemp("imported"), [["slide_id", "label"]]
    for number in range(3):
        content = (features(20_000, seed=number), grid(20_000))
        folder = trident_slide(place / "tool", f"s{number}", *content, bounds=(10**7, 10**7))
        rows.append([f"s{number}", number % 2])
    command = ["import", folder, "--labels", write_table(place / "labels.csv", rows), "--quiet"]
    nursery.run([*command, "--out", "bags"], place)
    return command, place / "bags"


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc to find the workers in")
@pytest.mark.parametrize("seed", range(5))
def test_reproduce(tmp_path, nursery, seed):
    child = nursery.start(words(2, "--workers", 2), tmp_path)
    kill_a_worker(child, tmp_path / "out", random.Random(seed))
    (tmp_path / "alone").mkdir()
    nursery.run(words(2), tmp_path / "alone")
    assert numbers(tmp_path / "out") == numbers(tmp_path / "alone" / "out")


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc to find the workers in")
@pytest.mark.parametrize("seed", range(5))
def test_compare(tmp_path, nursery, seed):
    options = (*COMPARE, "--data-option", "n_bags=20")
    child = nursery.start(["compare", *options, "--workers", 2, "--out", "two"], tmp_path)
    kill_a_worker(child, tmp_path / "two", random.Random(seed))
    nursery.run(["compare", *options, "--out", "one"], tmp_path)
    assert numbers(tmp_path / "two") == numbers(tmp_path / "one")
    assert find_damage(tmp_path / "two") == []


@pytest.mark.parametrize("seed", SEEDS)
def test_extraction_by_two_processes(tmp_path, nursery, tiled, seed):
    """The second takes over the slide that the first had under way, and packs the bags."""
    shutil.copytree(tiled / "many", tmp_path / "two")
    command = ["extract", "two", "--out", "bags", "--batch-size", "1", "--quiet"]
    first = nursery.start(command, tmp_path)
    first.wait_until(lambda: any(tmp_path.glob("two/features-*/slide-0.lock")))
    second = nursery.start(command, tmp_path)
    second.wait_until(lambda: any(tmp_path.glob("two/features-*/slide-1.lock")))
    time.sleep(random.Random(seed).uniform(0, 0.1))
    first.kill()
    assert second.wait() == 0, second.said.read_text()
    assert hashes(tmp_path / "bags") == hashes(tiled / "bags of many")
    assert left_behind(tmp_path) == []


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc to find the workers in")
@pytest.mark.parametrize("seed", SEEDS)
def test_extraction_by_workers(tmp_path, nursery, tiled, seed):
    shutil.copytree(tiled / "few", tmp_path / "two")
    child = nursery.start(["extract", "two", "--out", "bags", "--batch-size", "1", "--workers", 2, "--quiet"], tmp_path)
    kill_a_worker(child, tmp_path, random.Random(seed), "two/features-*/*.lock")
    assert hashes(tmp_path / "bags") == hashes(tiled / "bags of few")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc to find the workers in")
@pytest.mark.parametrize("seed", SEEDS)
def test_import_by_workers(tmp_path, nursery, imported, seed):
    command, alone = imported
    child = nursery.start([*command, "--out", "two", "--workers", 2], tmp_path)
    kill_a_worker(child, tmp_path, random.Random(seed), "two.parts/*.lock")
    assert hashes(tmp_path / "two") == hashes(alone)
    assert [path.name for path in tmp_path.iterdir()] == ["two"]


@pytest.mark.parametrize("seed", SEEDS)
def test_import_by_two_commands(tmp_path, nursery, imported, seed):
    """The second takes over the slide that the first had under way, and packs the bags."""
    command, alone = imported
    shared = [*command, "--out", "two", "--shared"]
    first = nursery.start(shared, tmp_path)
    first.wait_until(lambda: any(tmp_path.glob("two.parts/s0.lock")))
    first.send(signal.SIGSTOP)  # so that it has this slide under way when it is killed
    second = nursery.start(shared, tmp_path)
    second.wait_until(lambda: any(tmp_path.glob("two.parts/s1.lock")))
    time.sleep(random.Random(seed).uniform(0, 0.05))
    first.kill()
    assert second.wait() == 0, second.said.read_text()
    assert hashes(tmp_path / "two") == hashes(alone)
    assert [path.name for path in tmp_path.iterdir()] == ["two"]
