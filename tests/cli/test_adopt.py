import json

import numpy as np
import torch

from bagwise.bags.bags import Bags
from bagwise.bags.folder import save_bags
from command_line import bagwise, run_rejected
from runs.formulas import clam, clam_layers, named


def test_adopt_weights_then_predict(tmp_path):
    layers = clam_layers()
    torch.save({"state_dict": named(layers, "module.")}, tmp_path / "clam.pt")
    result = bagwise("adopt", "clam.pt", "--out", "model", "--classes", "normal, tumour", "--json", cwd=tmp_path)
    assert json.loads(result.stdout)["classes"] == ["normal", "tumour"]
    draws = np.random.default_rng(0)
    slides = [draws.normal(size=(size, 24)).astype(np.float32) for size in (5, 9)]
    save_bags(Bags.from_list(slides, names=["one", "two"]), tmp_path / "bags")
    assert bagwise("predict", "model", "bags", "--out", "predictions.csv", cwd=tmp_path).returncode == 0
    lines = (tmp_path / "predictions.csv").read_text().splitlines()
    place = lines[0].split(",").index("probability tumour")
    found = [float(line.split(",")[place]) for line in lines[1:]]
    np.testing.assert_allclose(found, [clam(layers, slide)[0][1] for slide in slides], atol=1e-6)


def test_adopt_rejects_missing_and_unknown_files(tmp_path):
    assert "no such file: nothing.pt" in run_rejected("adopt", "nothing.pt", "--out", "model", cwd=tmp_path)
    torch.save({"a": torch.zeros(1)}, tmp_path / "other.pt")
    assert "neither CLAM" in run_rejected("adopt", "other.pt", "--out", "model", cwd=tmp_path)
    assert not (tmp_path / "model").exists()
