"""Two writers in one run folder: the second is told pid and host of the first; a dead lock is reclaimed."""

import signal
import socket

import pytest

from bagwise.io.locking import LOCK_FILE
from bagwise.io.manifest import find_damage
from command_line import refusal
from faults.processes import left_behind
from faults.tiny_experiment import UNITS, add_to_recipes, numbers, words

TRAIN = ("train", "needles", "run", "--epochs", "30", "--engine", "torch", "--data-option", "n_bags=20", "--quiet")


@pytest.fixture
def halted(nursery, tmp_path):
    """Starts a command and halts it, alive, once something has happened."""

    def begin(command, happened):
        child = nursery.start(command, tmp_path)
        child.wait_until(happened)
        child.send(signal.SIGSTOP)
        return child

    return begin


def test_a_run_has_one_writer_and_goes_on_when_it_is_dead(tmp_path, nursery, halted):
    run = tmp_path / "run"
    first = halted(TRAIN, (run / "checkpoint.safetensors").exists)
    told = f"run is being written by process {first.pid} on {socket.gethostname()}"
    for attempt in (TRAIN, (*TRAIN, "--resume"), ("train", "digits", "run")):
        assert told in refusal(*attempt, cwd=tmp_path)
    first.kill()
    assert (run / LOCK_FILE).exists()
    nursery.run([*TRAIN, "--resume"], tmp_path)
    assert find_damage(run) == left_behind(tmp_path) == []


def test_a_comparison_has_one_writer_and_its_neighbours_are_free(tmp_path, nursery, halted):
    add_to_recipes()
    place = tmp_path / "out" / "tiny" / "one"
    first = halted(words(1), lambda: any(place.rglob("units/*/*.json")))
    told = f"draw-0 is being written by process {first.pid} on {socket.gethostname()}"
    assert told in refusal(*words(1), cwd=tmp_path)
    compare = ("compare", "needles", "--methods", "naive", "--folds", "2", "--quiet", "--out")
    assert told in refusal(*compare, place / "draw-0", cwd=tmp_path)
    nursery.run([*compare, place / "draw-1"], tmp_path)
    first.kill()
    nursery.run(words(1), tmp_path)
    assert len(numbers(place / "draw-0")) == UNITS
    assert find_damage(place / "draw-0") == left_behind(tmp_path) == []
