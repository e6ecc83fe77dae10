import json

import pytest

from command_line import bagwise, run_rejected


def test_export_writes_model_card_and_onnx(digits_run, tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    result = bagwise("export", digits_run.folder, "--out", "out", "--onnx", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    files = json.loads(result.stdout)["files"]
    assert {"card.json", "card.md", "manifest.json", "model.onnx"} <= set(files)
    assert result.stderr == ""


def test_export_rejects_wrong_arguments(digits_run, tmp_path):
    assert "is not a folder" in run_rejected("export", "nowhere", "--out", "out", cwd=tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    assert "taken" in run_rejected("export", digits_run.folder, "--out", "taken", cwd=tmp_path)
    assert (tmp_path / "taken" / "mine.txt").exists()
