"""`kill -9` at random moments of training, of `reproduce`, of feature extraction, and during a checkpoint's write:
resume ends with SHA-256-identical weights and predictions; the last checkpoint is intact.
"""

import functools
import random
import signal

import pytest

from bagwise.io.locking import describe_owner
from bagwise.io.manifest import find_damage, hash_file
from faults.processes import epochs_of, kill_in_work, left_behind
from faults.tiny_experiment import UNITS, numbers, words

RESULTS = ("model/model.safetensors", "predictions.csv", "weights.npy", "metrics.json")
TRAIN = ("--batch-size", "4", "--engine", "torch", "--data-option", "n_bags=20", "--validation", "0.2", "--quiet")
KILLS = [3, pytest.param(20, marks=pytest.mark.full)]
pytestmark = pytest.mark.timeout(1200)  # of the long forms on a busy machine


def digests(folder):
    return {name: hash_file(folder / name) for name in RESULTS}


@pytest.fixture(scope="module")
def whole(nursery, tmp_path_factory):
    """The digests of a run that nobody cut, by its flags."""

    @functools.cache
    def digests_of(flags):
        folder = tmp_path_factory.mktemp("whole")
        nursery.run(["train", "needles", "run", *flags], folder)
        return digests(folder / "run")

    return digests_of


@pytest.mark.parametrize("kills", KILLS)
def test_training(tmp_path, nursery, whole, kills):
    flags = ("--epochs", 20 * kills, *TRAIN)
    checkpoint, moments = tmp_path / "run" / "checkpoint.safetensors", random.Random(kills)
    for kill in range(kills):
        child = nursery.start(["train", "needles", "run", *flags, *["--resume"][: min(1, kill)]], tmp_path)
        kill_in_work(child, lambda: epochs_of(checkpoint), moments.uniform(0, 0.15))
        assert 0 < epochs_of(checkpoint) < 20 * kills
    nursery.run(["train", "needles", "run", "--resume", "--quiet"], tmp_path)
    assert digests(tmp_path / "run") == whole(flags)
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("kills", KILLS)
def test_the_write_of_a_checkpoint(tmp_path, nursery, whole, kills):
    flags = ("--epochs", 20 * kills, *TRAIN)
    epochs = []
    for kill in range(kills):
        command = ["train", "needles", "run", *flags, "--resume", kill]
        assert nursery.start(command, tmp_path, call="faults.dying_writers:train_and_die").wait() == -signal.SIGKILL
        epochs.append(epochs_of(tmp_path / "run" / "checkpoint.safetensors"))
    assert epochs == sorted(epochs), "a checkpoint was lost"
    assert 0 < epochs[-1] < 20 * kills
    nursery.run(["train", "needles", "run", "--resume", "--quiet"], tmp_path)
    assert digests(tmp_path / "run") == whole(flags)
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("kills", KILLS)
def test_reproduce(tmp_path, nursery, kills):
    moments, place = random.Random(kills), tmp_path / "out" / "tiny"
    for _ in range(kills):
        kill_in_work(nursery.start(words(kills), tmp_path), lambda: len(numbers(place)), moments.uniform(0, 0.1))
    assert 0 < len(numbers(place)) < UNITS * kills
    nursery.run(words(kills), tmp_path)
    (tmp_path / "whole").mkdir()
    nursery.run(words(kills), tmp_path / "whole")
    assert numbers(place) == numbers(tmp_path / "whole" / "out" / "tiny")
    assert len(numbers(place)) == UNITS * kills
    assert [find_damage(place / "one" / f"draw-{draw}") for draw in range(kills)] == [[]] * kills
    assert left_behind(tmp_path) == []


def extraction(tiles):
    return ["extract", tiles, "--out", f"bags of {tiles}", "--batch-size", "1", "--quiet"]


@pytest.mark.parametrize("kills", KILLS)
def test_extraction(tmp_path, nursery, slides, kills):
    """A few kills a folder: whatever is done of it is not done again, so none is left to kill in the end."""
    moments, folders = random.Random(kills), {f"cut-{first}": min(4, kills - first) for first in range(0, kills, 4)}
    slides.tile_into(tmp_path / "whole")
    nursery.run(extraction("whole"), tmp_path)
    for tiles, count in folders.items():
        slides.tile_into(tmp_path / tiles)
        for _ in range(count):
            child = nursery.start(extraction(tiles), tmp_path)
            kill_in_work(child, lambda tiles=tiles: owners(tmp_path / tiles), moments.uniform(0, 0.15))
        assert not (tmp_path / f"bags of {tiles}").exists()
        nursery.run(extraction(tiles), tmp_path)
        assert contents(tmp_path / f"bags of {tiles}") == contents(tmp_path / "bags of whole")
    assert left_behind(tmp_path) == []


def owners(tiles):
    """Who works on which slide; what a killed process left is taken over under the same name."""
    return [describe_owner(path) for path in sorted(tiles.glob("features-*/*.lock"))]


def contents(folder):
    return {path.name: hash_file(path) for path in folder.iterdir()}
