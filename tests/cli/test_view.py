import json
import signal
import subprocess
import urllib.request

from command_line import command, run_rejected


def test_view_serves_a_run_until_interrupted(digits_run, tmp_path):
    arguments = command("view", digits_run.folder, "--no-browser", "--json")
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as viewer:
        address = json.loads(viewer.stdout.readline())["address"]
        with urllib.request.urlopen(f"{address}api/runs/0/bags", timeout=240) as answer:
            found = json.load(answer)
        viewer.send_signal(signal.SIGINT)
        _, stderr = viewer.communicate(timeout=240)
    assert [bag["outputs"][1] for bag in found] == [row["probability 1"] for row in digits_run.predictions]
    assert viewer.returncode == 0
    assert stderr == ""
    assert not list(tmp_path.iterdir())


def test_view_rejects_wrong_arguments_with_the_fix(digits_run, tmp_path):
    assert "neither a folder nor a report" in run_rejected("view", "nowhere", cwd=tmp_path)
    assert "contains no finished run" in run_rejected("view", tmp_path, cwd=tmp_path)
    assert "cannot be used" in run_rejected("view", digits_run.folder, "--port", "70000", cwd=tmp_path)
    message = run_rejected("view", digits_run.folder, "--slides", "nowhere", "--no-browser", cwd=tmp_path)
    assert "nowhere is not a folder" in message


def test_view_names_the_missing_extra(digits_run, tmp_path, monkeypatch):
    monkeypatch.setattr("bagwise.viewer.server.find_spec", lambda package: None)
    assert "pip install 'bagwise[viewer]'" in run_rejected("view", digits_run.folder, cwd=tmp_path)
