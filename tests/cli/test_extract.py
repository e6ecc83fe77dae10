"""bagwise extract, as a user runs it."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

from bagwise.bags.folder import load_bags
from bagwise.data.slides.slide_tiles import TilingSettings
from bagwise.data.slides.tile_files import tile_to_file
from bagwise.io.locking import hold_lock
from command_line import bagwise, command, read_error
from data.slides.slide_files import write_pyramid

pytest.importorskip("openslide")


@pytest.fixture(scope="module")
def tiles(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    for name in ("one", "two"):
        write_pyramid(folder / f"{name}.tif", levels=2)
        tile_to_file(folder / f"{name}.tif", folder / "tiles", TilingSettings(size=32, mpp=1.0))
    return folder / "tiles"


def test_extract_packs_pixels_with_labels(tiles, tmp_path):
    (tmp_path / "labels.csv").write_text("case_id,slide_id,label\np,one.tif,0\nq,two,1\n")
    with hold_lock(tiles / "features-pixels" / "two.lock"):
        waiting = json.loads(bagwise("extract", tiles, "--out", "bags", "--json", cwd=tmp_path).stdout)
        assert waiting["elsewhere"]["two"].startswith("process")
        assert (waiting["done"], waiting["packed"]) == (["one"], None)
        assert not (tmp_path / "bags").exists()
    result = bagwise("extract", tiles, "--out", "bags", "--labels", "labels.csv", cwd=tmp_path)
    assert "1 slide extracted, 1 done before" in result.stdout
    assert "next: bagwise train bags runs/first" in result.stdout
    bags = load_bags(tmp_path / "bags")
    assert bags.labels.tolist() == [0, 1]
    assert bags.groups.tolist() == ["p", "q"]
    assert bags.instance_shape == (32, 32, 3)


READ_AFTER_A_SIGNAL = """
import os, signal
from bagwise.data.slides.slide import Slide

signalled, wakeup = os.pipe()
os.set_blocking(wakeup, False)
signal.set_wakeup_fd(wakeup)
read = Slide.read

def read_after_a_signal(*arguments):
    os.read(signalled, 1)
    Slide.read = read
    return read(*arguments)

Slide.read = read_after_a_signal
"""
NEVER_READ = """
import signal
from bagwise.data.slides.slide import Slide

def never_read(*arguments):
    while True:
        signal.pause()

Slide.read = never_read
"""


@contextlib.contextmanager
def blocked_extraction(folder, startup, *flags):
    """A bagwise extract that is blocked in its first tile, and its arguments.

    Python imports sitecustomize when it starts, also in worker processes.
    """
    write_pyramid(folder / "one.tif", levels=2)
    tiles = folder / "tiles"
    tile_to_file(folder / "one.tif", tiles, TilingSettings(size=32, mpp=1.0))
    (folder / "startup").mkdir()
    (folder / "startup" / "sitecustomize.py").write_text(startup)
    words = command("extract", tiles, "--out", folder / "bags", "--batch-size", "1", *flags)
    environment = {**os.environ, "PYTHONPATH": str(folder / "startup")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, env=environment, start_new_session=True, **pipes) as process:
        try:
            while not list(tiles.glob("features-pixels/.*.tmp")):
                assert process.poll() is None, process.communicate()
                time.sleep(0.01)
            yield process, words[3:]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def assert_stopped_without_files(folder, process, words, code):
    """The command exits with the code of the signal, prints how to resume and leaves no files."""
    stderr = process.communicate(timeout=240)[1]
    assert process.returncode == code
    assert shlex.split(stderr.split("Resume with:")[1])[1:] == words
    assert "Traceback" not in stderr
    features = folder / "tiles" / "features-pixels"
    assert list(features.glob("*")) == list(features.glob(".*")) == []
    assert not (folder / "bags").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_extract_interrupted_leaves_no_files_and_prints_resume_command(tmp_path, number, code):
    with blocked_extraction(tmp_path, READ_AFTER_A_SIGNAL) as (process, words):
        process.send_signal(number)
        assert_stopped_without_files(tmp_path, process, words, code)


def test_extract_with_workers_gives_the_same_bags(tiles, tmp_path):
    assert bagwise("extract", tiles, "--out", tmp_path / "one", "--quiet").returncode == 0
    shutil.rmtree(tiles / "features-pixels")
    output = json.loads(bagwise("extract", tiles, "--out", tmp_path / "two", "--workers", "2", "--json").stdout)
    assert (output["done"], output["packed"]) == (["one", "two"], 2)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.full)]
)
def test_extract_signal_ends_workers_and_leaves_no_files(tmp_path, number, code):
    """Ctrl-C reaches all processes of a terminal, termination only the command."""
    with blocked_extraction(tmp_path, NEVER_READ, "--workers", "2") as (process, words):
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        assert_stopped_without_files(tmp_path, process, words, code)


def test_extract_rejects_wrong_arguments(tiles, tmp_path):
    (tmp_path / "notes.txt").touch()
    assert "contains files that are not bags" in read_error(bagwise("extract", tiles, "--out", tmp_path))
    assert "make them with: bagwise tile" in read_error(bagwise("extract", tmp_path, "--out", tmp_path / "bags"))
    (tmp_path / "labels.csv").write_text("slide_id,label\none,0\nthree,1\n")
    lonely = read_error(bagwise("extract", tiles, "--out", tmp_path / "bags", "--labels", tmp_path / "labels.csv"))
    assert "no tiles for labelled 'three'; no label for 'two'; correct the column slide_id, or add --skip-bad" in lonely
    (tmp_path / "labels.csv").write_text("slide_id,label\none,0\none.tif,1\n")
    twice = read_error(bagwise("extract", tiles, "--out", tmp_path / "bags", "--labels", tmp_path / "labels.csv"))
    assert "a slide is listed twice" in twice
    none = read_error(bagwise("extract", tiles, "--out", tmp_path / "bags", "--workers", "0"))
    assert "workers is 0; it must be a whole number of at least 1" in none
    nowhere = read_error(bagwise("extract", tiles, "--out", tmp_path / "bags", "--backend", "dask"))
    assert "--backend dask needs --scheduler ADDRESS" in nowhere


def test_extract_rejects_unknown_encoder_before_torch_is_imported(tiles, tmp_path):
    arguments = ["bagwise", "extract", str(tiles), "--out", str(tmp_path / "bags"), "--encoder", "no-such-encoder"]
    program = (
        f"import sys; sys.argv = {arguments!r}\n"
        "from bagwise.cli import main\n"
        "try: main()\n"
        "finally: assert 'torch' not in sys.modules"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "no-such-encoder" in read_error(result)
