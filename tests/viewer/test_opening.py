import shutil

import pytest

from bagwise.errors import InputError
from bagwise.viewer.opening import open_runs


def test_a_run_a_report_of_it_and_a_folder_above_mean_the_same_run(image_runs, tmp_path):
    shutil.copytree(image_runs, tmp_path / "all")
    one = tmp_path / "all" / "attention"
    (one / "report.html").write_text("a page")
    assert [*open_runs(one)] == [*open_runs(one / "report.html")] == ["attention"]
    assert [*open_runs(tmp_path / "all")] == ["attention", "instances"]
    assert [*open_runs(tmp_path)] == ["all/attention", "all/instances"]
    assert open_runs(tmp_path)["all/attention"].folder == one


def test_the_models_within_runs_are_not_taken_for_runs(image_runs):
    assert (image_runs / "attention" / "model" / "manifest.json").exists()
    assert len(open_runs(image_runs)) == 2


def test_what_holds_no_run_is_refused_with_the_fix(tmp_path):
    with pytest.raises(InputError, match="holds no finished run; make one"):
        open_runs(tmp_path)
    with pytest.raises(InputError, match="neither a folder nor a report"):
        open_runs(tmp_path / "nowhere")
    (tmp_path / "begun").mkdir()
    for name in ("parameters.json", "checkpoint.safetensors"):
        (tmp_path / "begun" / name).write_text("{}")
    with pytest.raises(InputError, match="--resume"):
        open_runs(tmp_path / "begun")


def test_a_damaged_run_is_named(image_runs, tmp_path):
    shutil.copytree(image_runs / "attention", tmp_path / "run")
    (tmp_path / "run" / "weights.npy").unlink()
    with pytest.raises(InputError, match=r"weights\.npy is missing"):
        open_runs(tmp_path)


def test_beside_others_a_damaged_run_is_left_out_and_said(image_runs, tmp_path):
    shutil.copytree(image_runs, tmp_path / "all")
    (tmp_path / "all" / "attention" / "weights.npy").unlink()
    (tmp_path / "all" / "strange").mkdir()
    (tmp_path / "all" / "strange" / "manifest.json").write_text("{ not json")
    with pytest.warns(UserWarning, match="left out") as told:
        assert [*open_runs(tmp_path / "all")] == ["instances"]
    assert len(told) == 2
