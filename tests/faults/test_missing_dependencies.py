"""No network, no optional package, no browser: a message with what to install, in two seconds."""

import json
import os
import resource
import subprocess
import sys

import pytest

from data.formats.foreign import clam_slide, features, grid

SECONDS = 2.0  # of this process's own time: what others on the machine do does not count
WITHOUT = """
import sys
missing, sys.argv = sys.argv[1], ["bagwise", *sys.argv[2:]]
sys.modules.update(dict.fromkeys(missing.split()))  # as if they were not installed, for import and find_spec alike
from bagwise.cli import main
main()
"""
NOWHERE = "http://127.0.0.1:9/data"  # the port of "discard": nobody listens


def without(missing, *words, **environment):
    """Run a command where packages are missing; what it said, and the seconds of a processor that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    arguments = [sys.executable, "-c", WITHOUT, missing, *map(str, words)]
    surroundings = {**os.environ, **environment}
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False, env=surroundings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result, sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """Files that can be read only with the packages that are missing."""
    folder = tmp_path_factory.mktemp("there")
    clam_slide(folder, "slide", features(4, 4), grid(4))
    (folder / "labels.csv").write_text("slide_id,label\nslide,1\n")
    return folder


PARTS = {
    "starlette": (["view", "run"], "pip install 'bagwise[viewer]'"),
    "uvicorn": (["view", "run"], "pip install 'bagwise[viewer]'"),
    "h5py": (["import", "features", "--labels", "labels.csv", "--out", "out"], "pip install 'bagwise[features]'"),
    "openslide": (["tile", "slides", "--out", "out"], "pip install 'bagwise[slides]'"),
    "efficientnet_lite_pytorch": (
        ["extract", "tiles", "--out", "out", "--encoder", "efficientnet-lite0"],
        "pip install efficientnet-lite-pytorch",
    ),
    "timm": (["extract", "tiles", "--out", "out", "--encoder", "resnet18"], "pip install timm"),
}


@pytest.mark.parametrize("package", PARTS)
def test_a_missing_package_is_named_with_the_command_that_installs_it(there, package, monkeypatch):
    monkeypatch.chdir(there)
    words, fix = PARTS[package]
    result, seconds = without(package, *words)
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    assert fix in result.stderr
    assert seconds < SECONDS
    assert not (there / "out").exists()


@pytest.mark.parametrize("source", [["--from", NOWHERE], ["--from", "http://no-such-host.invalid/"], []])
def test_without_a_network_the_way_by_hand_is_told(tmp_path, source):
    home = {"BAGWISE_DATA": str(tmp_path / "home")}
    proxies = {"http_proxy": NOWHERE, "https_proxy": NOWHERE} if not source else {}
    result, seconds = without("", "data", "fetch", "mnist-bags", *source, **home, **proxies)
    assert result.returncode == 2, result.stderr
    assert "cannot be reached" in result.stderr
    assert "download the files by hand and pass --from FOLDER" in result.stderr
    assert seconds < SECONDS
    assert not (tmp_path / "home").exists()


@pytest.mark.full
def test_the_doctor_says_of_every_missing_part_how_to_get_it():
    from bagwise.cli.doctor import OPTIONAL

    result, _ = without(" ".join(OPTIONAL), "doctor", COLUMNS="200")
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert all(f"missing; {words}" in said for words in OPTIONAL.values())


def test_without_a_browser_the_viewer_goes_on_and_says_where(digits_run, tmp_path):
    alone = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
    words = [sys.executable, "-m", "bagwise", "view", str(digits_run.folder), "--json"]
    environment = {**alone, "PATH": str(tmp_path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as viewer:
        address = json.loads(viewer.stdout.readline())["address"]
        said = viewer.stderr.readline()
        viewer.terminate()
        viewer.communicate(timeout=60)
    assert f"no browser was found; open {address} yourself" in said
