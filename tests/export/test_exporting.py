import json

import numpy as np
import pytest

from bagwise import BagClassifier
from bagwise.errors import InputError
from bagwise.export import export_run, exporting
from bagwise.manifests import damages


def test_the_folder_has_the_model_its_card_and_seals(digits_run, tmp_path):
    files = export_run(digits_run, tmp_path / "out")
    assert {"card.json", "card.md", "manifest.json", "model/model.json", "model/model.safetensors"} <= set(files)
    assert "model.onnx" not in files
    assert damages(tmp_path / "out") == []
    again = BagClassifier.load(tmp_path / "out" / "model")
    expected = [float(row["probability 1"]) for row in digits_run.predictions]
    np.testing.assert_array_equal(again.predict_proba(digits_run.test_bags())[:, 1], expected)
    assert json.loads((tmp_path / "out" / "card.json").read_text())["classes"] == digits_run.classes


def test_a_failed_graph_leaves_no_folder(digits_run, tmp_path, monkeypatch):
    def fail(*arguments):
        raise InputError("no graph")

    monkeypatch.setattr(exporting, "write_onnx", fail)
    with pytest.raises(InputError, match="no graph"):
        export_run(digits_run, tmp_path / "out", onnx=True)
    assert list(tmp_path.iterdir()) == []
