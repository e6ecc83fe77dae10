import csv
import shutil

import pytest

from bagwise.errors import InputError
from bagwise.runs.run import Run
from bagwise.viewer.session import describe_run, list_bags, open_runs


def test_list_bags_has_the_text_of_the_predictions(image_runs):
    run = Run(image_runs / "attention")
    with (run.folder / "predictions.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for row, bag in zip(rows, list_bags(run), strict=True):
        assert bag["name"] == row["bag"]
        assert bag["outputs"] == [row["probability dark"], row["probability light"]]
        assert bag["correct"] == (row["label"] == row["predicted"])
        assert bag["n_instances"] == int(row["n_instances"])
        assert bag["group"] is None


def test_describe_run_identifies_the_test_bags(image_runs, digits_run):
    first, second = (describe_run(0, name, Run(image_runs / name)) for name in ("attention", "instances"))
    other = describe_run(2, "digits", digits_run)
    assert first["test_bags"] == second["test_bags"] != other["test_bags"]
    assert (first["method"], second["method"]) == ("attention", "instance-level max")
    assert first["metrics"]["AUC"] == Run(image_runs / "attention").metrics["bags"]["auc"]["value"]


def test_session_runs_are_sorted_by_name(session):
    assert [(run["number"], run["name"]) for run in session.runs()] == [(0, "attention"), (1, "instances")]


def test_session_raises_index_error_for_unknown_numbers(session):
    n_bags = len(session.bags(0))
    size = session.bags(0)[0]["n_instances"]
    for request in (
        lambda: session.bags(2),
        lambda: session.bag(2, 0),
        lambda: session.bag(0, n_bags),
        lambda: session.instance(0, 0, size),
    ):
        with pytest.raises(IndexError):
            request()


def test_session_instance_has_the_values_of_its_run(session):
    first, second = session.instance(0, 3, 2), session.instance(1, 3, 2)
    assert first["position"] == second["position"]
    assert first["contributions"] != second["contributions"]


def test_session_compares_weights_only_over_runs_of_other_seeds(session):
    assert session.bag(0, 0)["n_seeds"] == 1
    assert session.bag(0, 0)["spread"] is None
    assert session.instance(0, 0, 0)["weight_over_seeds"] is None


def test_session_warm_opens_the_data_of_the_first_run(image_runs):
    from bagwise.viewer.session import Session, open_runs

    session = Session(open_runs(image_runs))
    session.preload()
    assert "_opened" in vars(session.get_run(0, 0).open_run)
    assert "_opened" not in vars(session.get_run(1, 0).open_run)


def test_open_runs_accepts_a_run_its_report_and_folders_above(image_runs, tmp_path):
    shutil.copytree(image_runs, tmp_path / "all")
    first = tmp_path / "all" / "attention"
    (first / "report.html").write_text("a page")
    assert [*open_runs(first)] == [*open_runs(first / "report.html")] == ["attention"]
    assert [*open_runs(tmp_path / "all")] == ["attention", "instances"]
    assert [*open_runs(tmp_path)] == ["all/attention", "all/instances"]
    assert open_runs(tmp_path)["all/attention"].folder == first


def test_open_runs_ignores_the_models_within_runs(image_runs):
    assert (image_runs / "attention" / "model" / "manifest.json").exists()
    assert len(open_runs(image_runs)) == 2


def test_open_runs_rejects_a_folder_without_a_finished_run(tmp_path):
    with pytest.raises(InputError, match="contains no finished run; train one with: bagwise train"):
        open_runs(tmp_path)
    with pytest.raises(InputError, match="nowhere is neither a folder nor a report"):
        open_runs(tmp_path / "nowhere")
    (tmp_path / "unfinished").mkdir()
    for name in ("parameters.json", "checkpoint.safetensors"):
        (tmp_path / "unfinished" / name).write_text("{}")
    with pytest.raises(InputError, match="--resume"):
        open_runs(tmp_path / "unfinished")


def test_open_runs_names_the_missing_file_of_a_damaged_run(image_runs, tmp_path):
    shutil.copytree(image_runs / "attention", tmp_path / "run")
    (tmp_path / "run" / "weights.npy").unlink()
    with pytest.raises(InputError, match=r"weights\.npy is missing"):
        open_runs(tmp_path)


def test_open_runs_skips_damaged_runs_with_a_warning(image_runs, tmp_path):
    shutil.copytree(image_runs, tmp_path / "all")
    (tmp_path / "all" / "attention" / "weights.npy").unlink()
    (tmp_path / "all" / "strange").mkdir()
    (tmp_path / "all" / "strange" / "manifest.json").write_text("{ not json")
    with pytest.warns(UserWarning, match="run skipped") as caught:
        assert [*open_runs(tmp_path / "all")] == ["instances"]
    assert len(caught) == 2
