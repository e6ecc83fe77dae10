import json

import pytest

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from command_line import QUICK, bagwise, read_error


@pytest.mark.parametrize("file", ["instances.npy", "bags.csv"])
def test_check_names_file_with_a_flipped_bit(tmp_path, file):
    save_bags(load_dataset("needles", n_bags=6), tmp_path / "bags")
    assert "is intact (bagwise bags)" in bagwise("check", tmp_path / "bags").stdout
    content = bytearray((tmp_path / "bags" / file).read_bytes())
    content[-3] ^= 8
    (tmp_path / "bags" / file).write_bytes(bytes(content))
    assert f"{file} does not match the recorded SHA-256" in read_error(bagwise("check", tmp_path / "bags"))


def test_check_covers_runs_and_their_models(tmp_path):
    assert bagwise("train", "needles", "run", *QUICK, "-q", cwd=tmp_path).returncode == 0
    assert json.loads(bagwise("check", "run", "--json", cwd=tmp_path).stdout)["damages"] == []
    (tmp_path / "run" / "model" / "model.json").unlink()
    assert "model/model.json is missing" in read_error(bagwise("check", "run", cwd=tmp_path))
    assert "nowhere is not a folder" in read_error(bagwise("check", "nowhere", cwd=tmp_path))
