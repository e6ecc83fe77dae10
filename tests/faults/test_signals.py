"""SIGINT and SIGTERM: a checkpoint is written, the resume command is printed, and the exit code is 130 or 143.

Commands without a checkpoint keep completed work, leave no partial file, and print the resume command. In these tests,
a command stops itself at a file operation, and receives the signal when it is continued.
"""

import os
import shlex
import signal

import pytest

from bagwise.io.manifest import hash_file
from faults.processes import find_leftovers, find_workers, is_running, needs_proc
from faults.tiny_recipe import N_UNITS, make_command, read_units

SIGINT, SIGTERM = (signal.SIGINT, 130), (signal.SIGTERM, 143)
BOTH = pytest.mark.parametrize(("number", "code"), [SIGINT, SIGTERM])
SIGINT_IN_FULL = pytest.mark.parametrize(("number", "code"), [pytest.param(*SIGINT, marks=pytest.mark.full), SIGTERM])
TRAIN = ("--epochs", "6", "--batch-size", "4", "--engine", "torch", "--data-option", "n_bags=20", "--quiet")


def end_with_signal(child, number, code):
    """Send a signal to a stopped command, continue it, and return the resume command that it prints."""
    child.send(number)
    child.resume()
    return read_resume_command(child, code)


def read_resume_command(child, code):
    assert child.wait() == code, child.output.read_text()
    output = child.output.read_text()
    assert "Traceback" not in output
    assert "Resume with:" in output
    return shlex.split(output.splitlines()[-1])[1:]


@pytest.fixture(scope="module")
def uninterrupted_run(fork_server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    fork_server.run(["train", "needles", "run", *TRAIN], folder)
    return folder / "run"


@BOTH
def test_train_saves_on_a_signal_and_the_printed_command_resumes(
    tmp_path, fork_server, uninterrupted_run, number, code
):
    trigger = {"operation": "os.rename", "pattern": "*/checkpoint.safetensors", "count": 2}
    child = fork_server.start_and_stop(["train", "needles", "run", *TRAIN], tmp_path, **trigger)
    resume = end_with_signal(child, number, code)
    assert resume == ["train", "needles", "run", "--resume"]
    assert (tmp_path / "run" / "checkpoint.safetensors").exists()
    fork_server.run([*resume, "--quiet"], tmp_path)
    for name in ("model/model.safetensors", "predictions.csv"):
        assert hash_file(tmp_path / "run" / name) == hash_file(uninterrupted_run / name)


@BOTH
def test_reproduce_keeps_its_units_on_a_signal_and_resumes(tmp_path, fork_server, number, code):
    command, folder = make_command(1), tmp_path / "out" / "tiny"
    trigger = {"operation": "os.rename", "pattern": "*/units/*.json", "count": 2}
    child = fork_server.start_and_stop(command, tmp_path, **trigger)
    assert end_with_signal(child, number, code) == command
    before = read_units(folder)
    assert 0 < len(before) < N_UNITS
    assert find_leftovers(tmp_path) == []
    fork_server.run(command, tmp_path)
    assert len(read_units(folder)) == N_UNITS
    assert before.items() <= read_units(folder).items()


@pytest.mark.full
@needs_proc
def test_compare_terminates_its_workers_on_ctrl_c(tmp_path, fork_server):
    """The workers also receive the signal, as in a terminal."""
    command = ["compare", "needles", "--methods", "attention", "--engine", "torch", "--epochs", "20", "--folds", "9"]
    command += ["--data-option", "n_bags=20", "--workers", "2", "--out", "both", "--quiet"]
    trigger = {"operation": "os.rename", "pattern": "*/units/*.json", "count": 2}
    child = fork_server.start_and_stop(command, tmp_path, **trigger)
    workers = find_workers(child.pid)
    assert len(workers) == 2
    os.killpg(child.pid, signal.SIGINT)
    child.resume()
    assert read_resume_command(child, 130) == command
    assert 0 < len(list(tmp_path.glob("both/units/*/*.json"))) < 9
    assert find_leftovers(tmp_path) == []
    assert not any(map(is_running, workers))


@BOTH
def test_import_leaves_no_files_on_a_signal(tmp_path, fork_server, number, code):
    from data.formats.foreign import features, grid, trident_slide, write_table

    rows = [["slide_id", "label"], *([f"s{slide}.svs", str(slide % 2)] for slide in range(4))]
    for slide in range(4):
        folder = trident_slide(tmp_path, f"s{slide}", features(4, seed=slide), grid(4))
    labels = write_table(tmp_path / "labels.csv", rows)
    command = ["import", str(folder), "--labels", str(labels), "--out", "bags", "--quiet"]
    child = fork_server.start_and_stop(command, tmp_path, operation="open", pattern="*/.tmp-*")
    assert find_leftovers(tmp_path) != []
    assert end_with_signal(child, number, code) == command
    assert find_leftovers(tmp_path) == []
    assert not (tmp_path / "bags").exists()


@SIGINT_IN_FULL
def test_tile_keeps_the_completed_slides_on_a_signal(tmp_path, fork_server, slides, number, code):
    command = ["tile", str(slides), "--out", "tiles", "--size", "64", "--mpp", "0.25", "--quiet"]
    trigger = {"operation": "os.rename", "pattern": "*slide-1.json"}
    child = fork_server.start_and_stop(command, tmp_path, **trigger)
    assert end_with_signal(child, number, code) == command
    assert [path.name for path in tmp_path.glob("tiles/*.json")] == ["slide-0.json"]
    assert find_leftovers(tmp_path) == []
