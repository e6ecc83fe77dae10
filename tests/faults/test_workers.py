"""A worker process dies in `compare`, `reproduce`, extraction: its work is done again with identical result."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from bagwise.files import sha256
from bagwise.manifests import damages
from faults.processes import left_behind, workers_of
from faults.tiny_experiment import numbers, words

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 5))]
COMPARE = ("needles", "--methods", "attention", "--engine", "torch", "--epochs", "60", "--folds", "6", "--quiet")
pytestmark = pytest.mark.timeout(1200)  # of the long forms on a busy machine


def kill_a_worker(child, place, draws):
    """At a random moment after the first unit is written."""
    child.wait_until(lambda: any(place.rglob("units/*/*.json")))
    time.sleep(draws.uniform(0, 0.2))
    victim = draws.choice(workers_of(child.pid))
    os.kill(victim, signal.SIGKILL)
    assert child.wait() == 0, child.said.read_text()
    assert left_behind(place) == []


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
    assert damages(tmp_path / "two") == []


@pytest.mark.parametrize("seed", SEEDS)
def test_extraction_by_two_processes(tmp_path, nursery, slides, seed):
    """The second takes over the slide that the first had under way, and packs the bags."""
    draws = random.Random(seed)
    for name in ("two", "one"):
        slides.tile_into(tmp_path / name)
    command = ["extract", "two", "--out", "bags of two", "--batch-size", "1", "--quiet"]
    first = nursery.start(command, tmp_path)
    first.wait_until(lambda: any(tmp_path.glob("two/features-*/slide-0.claim")))
    second = nursery.start(command, tmp_path)
    second.wait_until(lambda: any(tmp_path.glob("two/features-*/slide-1.claim")))
    time.sleep(draws.uniform(0, 0.1))
    first.kill()
    assert second.wait() == 0, second.said.read_text()
    nursery.run(["extract", "one", "--out", "bags of one", "--quiet"], tmp_path)
    two, one = (tmp_path / f"bags of {name}" for name in ("two", "one"))
    assert {path.name: sha256(path) for path in two.iterdir()} == {path.name: sha256(path) for path in one.iterdir()}
    assert left_behind(tmp_path) == []
