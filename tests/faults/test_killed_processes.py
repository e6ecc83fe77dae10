"""`kill -9` at random points of training, `reproduce` and feature extraction, and while a checkpoint is written.

After resuming, weights and predictions have the same SHA-256 as without a kill, and the last checkpoint is intact. A
process is killed a random number of Python calls after a file operation, so a seed determines the point of the kill.
"""

import functools
import random
import shutil
import signal

import pytest

from bagwise.io.manifest import find_damage, hash_file
from faults.processes import find_leftovers, read_epoch
from faults.tiny_recipe import N_UNITS, make_command, read_units

RESULTS = ("model/model.safetensors", "predictions.csv", "weights.npy", "metrics.json")
TRAIN = ("--batch-size", "4", "--engine", "torch", "--data-option", "n_bags=20", "--validation", "0.2", "--quiet")
EPOCHS = 5  # per kill; more epochs than are completed before the kill
N_KILLS = [3, pytest.param(20, marks=pytest.mark.full)]
pytestmark = pytest.mark.timeout(1200)  # for the full tests on a busy machine


def hash_results(folder):
    return {name: hash_file(folder / name) for name in RESULTS}


def hash_folder(folder):
    return {path.name: hash_file(path) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def hash_uninterrupted_run(fork_server, tmp_path_factory):
    """Return a function from flags to the hashes of a run that was not killed."""

    @functools.cache
    def train(flags):
        folder = tmp_path_factory.mktemp("uninterrupted")
        fork_server.run(["train", "needles", "run", *flags], folder)
        return hash_results(folder / "run")

    return train


def kill_at(fork_server, arguments, folder, **trigger):
    child = fork_server.start_with_signal(arguments, folder, number=signal.SIGKILL, **trigger)
    assert child.wait() == -signal.SIGKILL, child.output.read_text()


@pytest.mark.parametrize("n_kills", N_KILLS)
def test_train_resumes_to_the_same_hashes_after_kills(tmp_path, fork_server, hash_uninterrupted_run, n_kills):
    flags = ("--epochs", EPOCHS * n_kills, *TRAIN)
    checkpoint, random_source = tmp_path / "run" / "checkpoint.safetensors", random.Random(n_kills)
    for kill in range(n_kills):
        command = ["train", "needles", "run", *flags, *(["--resume"] if kill else [])]
        point = {"count": random_source.randint(2, 4), "n_calls": random_source.randrange(2000)}
        kill_at(fork_server, command, tmp_path, operation="os.rename", pattern=f"*{checkpoint.name}", **point)
        assert 0 < read_epoch(checkpoint) < EPOCHS * n_kills
    fork_server.run(["train", "needles", "run", "--resume", "--quiet"], tmp_path)
    assert hash_results(tmp_path / "run") == hash_uninterrupted_run(flags)
    assert find_leftovers(tmp_path) == []


@pytest.mark.parametrize("n_kills", N_KILLS)
def test_train_keeps_the_last_checkpoint_if_killed_while_writing_one(
    tmp_path, fork_server, hash_uninterrupted_run, n_kills
):
    flags = ("--epochs", EPOCHS * n_kills, *TRAIN)
    epochs = []
    for kill in range(n_kills):
        command = ["train", "needles", "run", *flags, "--resume", kill]
        child = fork_server.start(command, tmp_path, call="faults.killed_writer:train_until_killed")
        assert child.wait() == -signal.SIGKILL, child.output.read_text()
        epochs.append(read_epoch(tmp_path / "run" / "checkpoint.safetensors"))
    assert epochs == sorted(epochs), "a checkpoint was lost"
    assert 0 < epochs[-1] < EPOCHS * n_kills
    fork_server.run(["train", "needles", "run", "--resume", "--quiet"], tmp_path)
    assert hash_results(tmp_path / "run") == hash_uninterrupted_run(flags)
    assert find_leftovers(tmp_path) == []


@pytest.mark.parametrize("n_kills", N_KILLS)
def test_reproduce_resumes_to_the_same_units_after_kills(tmp_path, fork_server, n_kills):
    random_source, folder, command = random.Random(n_kills), tmp_path / "out" / "tiny", make_command(n_kills)
    for _ in range(n_kills):
        point = {"count": random_source.randint(2, 4), "n_calls": random_source.randrange(2000)}
        kill_at(fork_server, command, tmp_path, operation="os.rename", pattern="*/units/*.json", **point)
    assert 0 < len(read_units(folder)) < N_UNITS * n_kills
    fork_server.run(command, tmp_path)
    (tmp_path / "uninterrupted").mkdir()
    fork_server.run(command, tmp_path / "uninterrupted")
    assert read_units(folder) == read_units(tmp_path / "uninterrupted" / "out" / "tiny")
    assert len(read_units(folder)) == N_UNITS * n_kills
    assert [find_damage(folder / "one" / f"draw-{repeat}") for repeat in range(n_kills)] == [[]] * n_kills
    assert find_leftovers(tmp_path) == []


@pytest.mark.parametrize("n_kills", N_KILLS)
def test_extract_resumes_to_the_same_bags_after_kills(tmp_path, fork_server, tiles, n_kills):
    """All kills happen before the features of the last slide are written."""

    def extract(out):
        return ["extract", "tiles", "--out", out, "--batch-size", "4", "--quiet"]

    random_source = random.Random(n_kills)
    shutil.copytree(tiles, tmp_path / "uninterrupted" / "tiles")
    fork_server.run(extract("bags"), tmp_path / "uninterrupted")
    shutil.copytree(tiles, tmp_path / "tiles")
    for kill in range(n_kills):
        slide = "slide-0" if kill < n_kills // 2 else "slide-1"
        point = {"pattern": f"*/{slide}.lock", "n_calls": random_source.randrange(5000)}
        kill_at(fork_server, extract("bags"), tmp_path, operation="open", **point)
    assert not (tmp_path / "bags").exists()
    fork_server.run(extract("bags"), tmp_path)
    assert hash_folder(tmp_path / "bags") == hash_folder(tmp_path / "uninterrupted" / "bags")
    assert find_leftovers(tmp_path) == []
