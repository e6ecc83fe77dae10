"""A run on several processes: real ones, started by torchrun."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from bagwise.errors import InputError
from bagwise.runs import Run, assist, execute
from bagwise.runs.assisting import leading
from bagwise.training.ranks import Ranks
from command_line import bagwise

FLAGS = ("--batch-size", "5", "--optimizer", "sgd", "--dropout", "0", "--seed", "1", "--validation", "0.3")
FLAGS += ("--data-option", "n_bags=24", "--quiet")


def torchrun(*words, cwd, n_processes=2):
    command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={n_processes}", "-m", "bagwise"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([*command, *words], cwd=cwd, env=environment, stderr=subprocess.PIPE, text=True)


def assert_near(one, other):
    first, second = (load_file(folder / "model" / "model.safetensors") for folder in (one, other))
    for name in first:
        np.testing.assert_allclose(first[name], second[name], rtol=1e-6, atol=1e-6)


def test_two_processes_train_the_model_that_one_trains(tmp_path):
    process = torchrun("train", "needles", "two", "--epochs", "3", *FLAGS, cwd=tmp_path)
    said = process.communicate(timeout=240)[1]
    assert process.returncode == 0, said
    alone = bagwise("train", "needles", "one", "--epochs", "3", "--engine", "torch", *FLAGS, cwd=tmp_path)
    assert alone.returncode == 0, alone.stderr
    assert_near(tmp_path / "one", tmp_path / "two")
    losses = [[row["validation_loss"] for row in Run(tmp_path / name).history] for name in ("one", "two")]
    np.testing.assert_allclose(*losses, rtol=1e-6)


@pytest.mark.full
def test_after_the_death_of_a_process_one_alone_goes_on_to_the_same_model(tmp_path):
    process = torchrun("train", "needles", "cut", "--epochs", "400", *FLAGS, cwd=tmp_path)
    checkpoint = tmp_path / "cut" / "checkpoint.safetensors"
    while not checkpoint.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.kill(max(children(process.pid)), signal.SIGKILL)
    said = process.communicate(timeout=120)[1]
    assert process.returncode != 0
    assert "another process of this run has died" in said or "stopped; what was finished is kept" in said
    assert checkpoint.exists()
    assert bagwise("train", "needles", "cut", "--resume", "-q", cwd=tmp_path).returncode == 0
    assert (
        bagwise("train", "needles", "whole", "--epochs", "400", "--engine", "torch", *FLAGS, cwd=tmp_path).returncode
        == 0
    )
    assert_near(tmp_path / "cut", tmp_path / "whole")


def children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.full
def test_a_refusal_ends_all_processes(tmp_path):
    process = torchrun("train", "needles", "run", "--epochs", "1", "--data-option", "n_bags=24", cwd=tmp_path)
    said = process.communicate(timeout=120)[1]
    assert process.returncode != 0
    assert said.count("bagwise: the run has 2 processes, and a step has 1 of the bags") == 1
    assert not (tmp_path / "run").exists()


class Recorded(Ranks):
    """The first of two, whose words are kept."""

    def __init__(self):
        super().__init__(0, 2)
        self.told = []

    def tell(self, text=""):
        self.told.append(text)
        return text


def test_the_others_are_told_once_and_never_left_waiting(tmp_path, monkeypatch):
    ranks = Recorded()
    monkeypatch.setattr("bagwise.runs.assisting.current", lambda: ranks)
    with leading() as leader:
        leader.begin({"data": {}, "parameters": {}}, tmp_path / "checkpoint")
    assert len(ranks.told) == 1
    with pytest.raises(RuntimeError), leading():
        raise RuntimeError("refused")
    assert ranks.told[1:] == [""]


def test_a_finished_run_and_a_refusal_leave_nobody_waiting(digits_run, tmp_path, monkeypatch):
    ranks = Recorded()
    monkeypatch.setattr("bagwise.runs.assisting.current", lambda: ranks)
    again = {**digits_run.parameters, "parameters": {}}
    assert execute(digits_run.folder, again, resume=True).folder == digits_run.folder
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is not a run"):
        execute(tmp_path, again)
    assert ranks.told == ["", ""]


def test_who_is_told_of_nothing_does_nothing(monkeypatch):
    monkeypatch.setattr("bagwise.runs.assisting.current", Recorded)
    assert assist() is None
