"""No network, no optional package, no browser: a message describes the fix, before torch is imported."""

import json
import os
import subprocess
import sys

import pytest

from data.formats.foreign import clam_slide, features, grid

WITHOUT = """
import atexit, sys
missing, sys.argv = sys.argv[1], ["bagwise", *sys.argv[2:]]
sys.modules.update(dict.fromkeys(missing.split()))  # simulates missing packages for import and find_spec
atexit.register(lambda: "torch" in sys.modules and sys.stderr.write("torch was imported"))
from bagwise.cli import main
main()
"""
UNREACHABLE = "http://127.0.0.1:9/data"  # the port of the discard service, which is not running
COMMANDS = {
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
IN_FULL = ("uvicorn", "efficientnet_lite_pytorch")  # the quick tests cover the same commands with other packages


def run_without(missing, *arguments, folder, **variables):
    """Run a command in a process without some packages."""
    command = [sys.executable, "-c", WITHOUT, missing, *map(str, arguments)]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of files that can be read only with the missing packages."""
    folder = tmp_path_factory.mktemp("files")
    clam_slide(folder, "slide", features(4, 4), grid(4))
    (folder / "labels.csv").write_text("slide_id,label\nslide,1\n")
    return folder


@pytest.mark.parametrize(
    "package", [pytest.param(name, marks=pytest.mark.full if name in IN_FULL else ()) for name in COMMANDS]
)
def test_commands_print_how_to_install_a_missing_package_before_importing_torch(folder, package):
    arguments, fix = COMMANDS[package]
    result = run_without(package, *arguments, folder=folder)
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    assert fix in result.stderr
    assert "torch was imported" not in result.stderr
    assert not (folder / "out").exists()


@pytest.mark.parametrize("source", [["--from", UNREACHABLE], ["--from", "http://no-such-host.invalid/"], []])
def test_data_fetch_without_network_explains_the_manual_download_before_importing_torch(tmp_path, source):
    variables = {"BAGWISE_DATA": str(tmp_path / "home")}
    if not source:
        variables |= {"http_proxy": UNREACHABLE, "https_proxy": UNREACHABLE}
    result = run_without("", "data", "fetch", "mnist-bags", *source, folder=tmp_path, **variables)
    assert result.returncode == 2, result.stderr
    assert "cannot be reached" in result.stderr
    assert "download the files by hand and pass --from FOLDER" in result.stderr
    assert "torch was imported" not in result.stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.full
def test_doctor_prints_how_to_install_every_missing_package(tmp_path):
    from bagwise.cli.doctor import OPTIONAL

    result = run_without(" ".join(OPTIONAL), "doctor", folder=tmp_path, COLUMNS="200")
    assert result.returncode == 0, result.stderr
    output = " ".join(result.stdout.split())
    assert all(f"missing; {fix}" in output for fix in OPTIONAL.values())


def test_view_without_a_browser_prints_the_address(digits_run, tmp_path):
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment["PATH"] = str(tmp_path)
    command = [sys.executable, "-m", "bagwise", "view", str(digits_run.folder), "--json"]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    with subprocess.Popen(command, **options) as viewer:
        address = json.loads(viewer.stdout.readline())["address"]
        message = viewer.stderr.readline()
        viewer.terminate()
        viewer.communicate()
    assert f"no browser was found; open {address} yourself" in message
