"""Two writers in one folder: the second is rejected, and the message names the pid and host of the first.

The lock of a dead process is taken over.
"""

import socket

from bagwise.io.locking import LOCK_FILE
from bagwise.io.manifest import find_damage
from command_line import run_rejected
from faults.processes import find_leftovers
from faults.tiny_recipe import N_UNITS, add_to_recipes, make_command, read_units

TRAIN = ("train", "needles", "run", "--epochs", "3", "--engine", "torch", "--data-option", "n_bags=20", "--quiet")


def test_train_names_the_first_writer_and_resumes_when_it_is_dead(tmp_path, fork_server):
    run = tmp_path / "run"
    trigger = {"operation": "os.rename", "pattern": "*/checkpoint.safetensors", "count": 2}
    first = fork_server.start_and_stop(TRAIN, tmp_path, **trigger)
    message = f"run is being written by process {first.pid} on {socket.gethostname()}"
    for second in (TRAIN, (*TRAIN, "--resume"), ("train", "digits", "run")):
        assert message in run_rejected(*second, cwd=tmp_path)
    first.kill()
    assert (run / LOCK_FILE).exists()
    fork_server.run([*TRAIN, "--resume"], tmp_path)
    assert find_damage(run) == find_leftovers(tmp_path) == []


def test_reproduce_and_compare_reject_a_second_writer_of_the_same_comparison_only(tmp_path, fork_server):
    add_to_recipes()
    folder = tmp_path / "out" / "tiny" / "one"
    trigger = {"operation": "os.rename", "pattern": "*/units/*.json", "count": 2}
    first = fork_server.start_and_stop(make_command(1), tmp_path, **trigger)
    message = f"draw-0 is being written by process {first.pid} on {socket.gethostname()}"
    assert message in run_rejected(*make_command(1), cwd=tmp_path)
    compare = ("compare", "needles", "--methods", "naive", "--folds", "2", "--quiet", "--out")
    assert message in run_rejected(*compare, folder / "draw-0", cwd=tmp_path)
    fork_server.run([*compare, folder / "draw-1"], tmp_path)
    first.kill()
    fork_server.run(make_command(1), tmp_path)
    assert len(read_units(folder / "draw-0")) == N_UNITS
    assert find_damage(folder / "draw-0") == find_leftovers(tmp_path) == []
