"""A run killed at random moments and resumed ends with the same bits: real processes, really killed."""

import random
import subprocess
import time
from pathlib import Path

import pytest

from bagwise.files import sha256
from command_line import bagwise, command

FLAGS = ("--epochs", "40", "--data-option", "n_bags=60", "--validation", "0.2", "--seed", "11", "--quiet")
RESULTS = ("model/model.safetensors", "predictions.csv", "weights.npy", "metrics.json")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[Path, float]:
    """A run that nobody cut, and how long it took."""
    folder = tmp_path_factory.mktemp("whole")
    started = time.perf_counter()
    assert bagwise("train", "needles", "run", *FLAGS, cwd=folder).returncode == 0
    return folder / "run", time.perf_counter() - started


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 20))])
def test_a_killed_run_resumes_to_the_same_bits(tmp_path, whole, seed):
    moments = random.Random(seed)
    kills = 0
    for attempt in range(6):
        resume = ["--resume"] if (tmp_path / "run" / "parameters.json").exists() else []
        process = subprocess.Popen(command("train", "needles", "run", *FLAGS, *resume), cwd=tmp_path)
        try:
            process.wait(timeout=whole[1] * moments.uniform(0.3, 0.9))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
        if kills == 3 or (process.returncode == 0 and attempt > 0):
            break
    assert kills > 0
    assert bagwise("train", "needles", "run", *FLAGS, "--resume", cwd=tmp_path).returncode == 0
    for name in RESULTS:
        assert sha256(tmp_path / "run" / name) == sha256(whole[0] / name), name
