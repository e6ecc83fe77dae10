"""A run killed at random moments and resumed ends with the same bits: real processes, really killed."""

import random
import subprocess
import time
from pathlib import Path

import pytest

from bagwise.files import sha256
from command_line import bagwise, command

FLAGS = ("--epochs", "30", "--data-option", "n_bags=60", "--validation", "0.2", "--seed", "11", "--quiet")
RESULTS = ("model/model.safetensors", "predictions.csv", "weights.npy", "metrics.json")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A run that nobody cut."""
    folder = tmp_path_factory.mktemp("whole")
    assert bagwise("train", "needles", "run", *FLAGS, cwd=folder).returncode == 0
    return folder / "run"


def killed_in_training(folder: Path, moments: random.Random) -> bool:
    """Start or resume the run, and kill it after some checkpoints and a random while; False if it ended before."""
    resume = ["--resume"] if (folder / "run" / "parameters.json").exists() else []
    checkpoint = folder / "run" / "checkpoint.safetensors"
    before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
    process = subprocess.Popen(command("train", "needles", "run", *FLAGS, *resume), cwd=folder)
    while process.poll() is None and not (checkpoint.exists() and checkpoint.stat().st_mtime_ns != before):
        time.sleep(0.002)
    time.sleep(moments.uniform(0, 0.15))
    if process.poll() is not None:
        return False
    process.kill()
    process.wait()
    return True


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 20))])
def test_a_killed_run_resumes_to_the_same_bits(tmp_path, whole, seed):
    moments = random.Random(seed)
    kills = [killed_in_training(tmp_path, moments) for _ in range(3)]
    assert any(kills), "no process was killed in training"
    assert bagwise("train", "needles", "run", *FLAGS, "--resume", cwd=tmp_path).returncode == 0
    for name in RESULTS:
        assert sha256(tmp_path / "run" / name) == sha256(whole / name), name
