"""SIGINT, SIGTERM: a checkpoint, exit code 130 / 143, the resume command printed.

Commands without a checkpoint keep what they finished, leave nothing half-written, and print the words that go on.
"""

import os
import shlex
import signal
from pathlib import Path

import pytest

from bagwise.io.manifest import hash_file
from faults.processes import left_behind, lives, workers_of
from faults.tiny_experiment import UNITS, numbers, words

BOTH = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
TRAIN = ("--epochs", "40", "--batch-size", "4", "--engine", "torch", "--data-option", "n_bags=20", "--quiet")


def way_on(child, code):
    """The words that a stopped command said would go on."""
    assert child.wait() == code, child.said.read_text()
    said = child.said.read_text()
    assert "Traceback" not in said
    assert "Resume with:" in said
    return shlex.split(said.splitlines()[-1])[1:]


@pytest.fixture(scope="module")
def whole(nursery, tmp_path_factory):
    """A run that nobody interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    nursery.run(["train", "needles", "run", *TRAIN], folder)
    return folder / "run"


@pytest.mark.parametrize(("number", "code"), BOTH)
def test_an_interrupted_training_is_saved_and_its_own_words_resume_it(tmp_path, nursery, whole, number, code):
    child = nursery.start(["train", "needles", "run", *TRAIN], tmp_path)
    child.wait_until((tmp_path / "run" / "checkpoint.safetensors").exists)
    child.send(number)
    resume = way_on(child, code)
    assert resume == ["train", "needles", "run", "--resume"]
    nursery.run([*resume, "--quiet"], tmp_path)
    for name in ("model/model.safetensors", "predictions.csv"):
        assert hash_file(tmp_path / "run" / name) == hash_file(whole / name)


@pytest.mark.parametrize(("number", "code"), BOTH)
def test_an_interrupted_reproduction_keeps_its_units_and_goes_on(tmp_path, nursery, number, code):
    child, place = nursery.start(words(1), tmp_path), tmp_path / "out" / "tiny"
    child.wait_until(lambda: numbers(place))
    child.send(number)
    assert way_on(child, code) == [str(word) for word in words(1)]
    before = numbers(place)
    assert 0 < len(before) < UNITS
    assert left_behind(tmp_path) == []
    nursery.run(words(1), tmp_path)
    assert len(numbers(place)) == UNITS
    assert before.items() <= numbers(place).items()


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc to find the workers in")
def test_an_interrupted_comparison_takes_its_workers_with_it(tmp_path, nursery):
    """As a terminal does it: the workers hear the signal too."""
    command = ["compare", "needles", "--methods", "attention", "--engine", "torch", "--epochs", "100", "--folds", "9"]
    command += ["--data-option", "n_bags=20", "--workers", "2", "--out", "both", "--quiet"]
    child = nursery.start(command, tmp_path)
    child.wait_until(lambda: any(tmp_path.glob("both/units/*/*.json")))
    workers = workers_of(child.pid)
    assert len(workers) == 2
    os.killpg(child.pid, signal.SIGINT)
    assert way_on(child, 130) == command
    units = list(tmp_path.glob("both/units/*/*.json"))
    assert 0 < len(units) < 9
    assert left_behind(tmp_path) == []
    assert not any(map(lives, workers))


@pytest.mark.parametrize(("number", "code"), BOTH)
def test_an_interrupted_import_leaves_nothing_behind(tmp_path, nursery, number, code):
    from data.formats.foreign import features, grid, trident_slide, write_table

    rows = [["slide_id", "label"], *([f"s{slide:03}.svs", str(slide % 2)] for slide in range(150))]
    for slide in range(150):
        folder = trident_slide(tmp_path, f"s{slide:03}", features(4, seed=slide), grid(4))
    labels = write_table(tmp_path / "labels.csv", rows)
    command = ["import", str(folder), "--labels", str(labels), "--out", "bags", "--quiet"]
    child = nursery.start(command, tmp_path)
    child.wait_until(lambda: left_behind(tmp_path))
    child.send(number)
    assert way_on(child, code) == command
    assert left_behind(tmp_path) == []
    assert not (tmp_path / "bags").exists()


def test_an_interrupted_tiling_keeps_the_slides_that_are_done(tmp_path, nursery, slides):
    command = ["tile", str(slides.folder), "--out", "tiles", "--size", "16", "--mpp", "0.25", "--quiet"]
    child = nursery.start(command, tmp_path)
    child.wait_until(lambda: any(tmp_path.glob("tiles/*.json")))
    child.send(signal.SIGTERM)
    assert way_on(child, 143) == command
    assert [path.name for path in tmp_path.glob("tiles/*.json")] == ["slide-0.json"]
    assert left_behind(tmp_path) == []
