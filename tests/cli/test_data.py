import json
import os
import subprocess
import sys

import pytest
import typer

from bagwise.cli.data import fetch
from bagwise.data import datasets
from bagwise.data.datasets.registry import DATASETS
from command_line import bagwise, read_error
from real_data import HOME, needs_real_data


@pytest.fixture(autouse=True)
def _home(monkeypatch, tmp_path):
    monkeypatch.setenv("BAGWISE_DATA", str(tmp_path / "home"))


@pytest.mark.parametrize("command", ["list", "describe", "fetch"])
def test_data_help_of_every_command_has_an_example(command):
    shown = bagwise("data", command, "--help").stdout
    assert f"Example: bagwise data {command}" in shown
    assert "--quiet" in shown
    assert "--json" in shown
    assert command in bagwise("data", "--help").stdout


def test_data_list_shows_every_set_and_its_availability(tmp_path):
    shown = bagwise("data", "list").stdout
    assert all(name in shown and dataset.title in shown for name, dataset in DATASETS.items())
    assert str(tmp_path / "home") in shown
    known = json.loads(bagwise("data", "list", "--json").stdout)["datasets"]
    assert {name for name, entry in known.items() if entry["available"]} == {"digits", "needles", "wide"}
    assert bagwise("data", "list", "--quiet").stdout == ""


@needs_real_data("musk1")
def test_data_fetch_then_describe():
    result = bagwise("data", "fetch", "musk1", "--from", HOME)
    assert result.returncode == 0
    assert "1 files fetched" in result.stdout
    assert "Dietterich" in result.stdout
    shown = " ".join(bagwise("data", "describe", "musk1").stdout.split())
    assert "bags 92 (47 positive, 45 negative)" in shown
    assert "instances 476" in shown
    assert "fulowl/smiles" in shown
    again = json.loads(bagwise("data", "fetch", "MUSK1", "--json").stdout)
    assert (again["brought"], again["kept"]) == ([], ["mil_classic/musk1.mat"])
    assert bagwise("data", "fetch", "musk1", "--quiet").stdout == ""


def test_data_fetch_interrupted_prints_how_to_resume(monkeypatch, capsys):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets, "fetch_dataset", interrupted)
    with pytest.raises(typer.Exit) as ended:
        fetch("musk1", quiet=True)
    assert ended.value.exit_code == 130
    assert "Run the same command again to resume" in capsys.readouterr().err


def test_data_describe_counts_each_split():
    found = json.loads(bagwise("data", "describe", "digits", "--json").stdout)
    assert found["splits"]["train"]["n_bags"] == 300
    assert found["splits"]["test"]["n_bags"] == 200


def test_data_rejects_wrong_arguments_with_the_fix():
    assert "bagwise data fetch fox [--from FOLDER_OR_URL]" in read_error(bagwise("data", "describe", "fox"))
    assert "did you mean 'fox'" in read_error(bagwise("data", "describe", "foxes"))
    assert "nowhere is not a folder" in read_error(bagwise("data", "fetch", "fox", "--from", "nowhere"))


@needs_real_data("newsgroups-1", "musk1", "mnist-bags")
@pytest.mark.parametrize("name", ["newsgroups-1", "musk1", "mnist-bags"])
def test_data_describe_does_not_import_torch(name):
    code = (
        f"import sys; sys.argv = ['bagwise', 'data', 'describe', '{name}', '--quiet']\n"
        "from bagwise.cli import main\n"
        "try: main()\n"
        "except SystemExit as ended: assert not ended.code\n"
        "print('torch' in sys.modules)"
    )
    environment = {**os.environ, "BAGWISE_DATA": str(HOME)}
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout == "False\n"
