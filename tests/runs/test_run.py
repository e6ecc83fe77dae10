import shutil

import numpy as np
import pytest

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.io.csv_files import read_csv, write_csv
from bagwise.io.json_files import read_json, write_json
from bagwise.report.model_card import export_run
from bagwise.runs.execution import execute_run
from bagwise.runs.run import Run, load_model
from resealing import reseal


def make_run(folder, data, **parameters):
    description = {"data": {"data": str(data), "options": {}, "test": None}, "parameters": {"epochs": 2, **parameters}}
    return execute_run(folder, description)


def test_run_reads_arrays_that_fit_each_other(tmp_path):
    save_bags(load_dataset("needles", n_bags=30).replace(labels=["no", "yes"] * 15), tmp_path / "bags")
    run = make_run(tmp_path / "run", tmp_path / "bags", validation=0.2)
    assert run.target.names == ["no", "yes"]
    assert run.offsets[-1] == len(run.weights)
    np.testing.assert_allclose(np.add.reduceat(run.weights, run.offsets[:-1]), 1, atol=1e-5)
    predicted = np.array([row["predicted"] for row in run.predictions])
    np.testing.assert_array_equal(np.array(run.target.names)[run.outputs.argmax(axis=1)], predicted)
    accuracy = (run.outputs.argmax(axis=1) == run.targets).mean()
    assert accuracy == pytest.approx(run.metrics["bags"]["accuracy"]["value"])
    assert [row["epoch"] for row in run.history] == [1, 2]
    assert run.history[0]["validation_loss"] is not None
    assert run.environment["python"]


def test_run_has_the_screening_of_its_model(digits_run, tmp_path):
    data = {"data": "needles", "options": {"n_bags": 40}, "test": None}
    screen = {"screen": ["extra trees", "MI-Kernel"]}
    run = execute_run(tmp_path / "run", {"data": data, "method": "auto", "parameters": screen})
    assert [(row["method"], row["weight"]) for row in run.screening] == [
        *load_model(run.folder).weight_by_name_.items()
    ]
    assert sum(row["weight"] for row in run.screening) == pytest.approx(1)
    assert digits_run.screening == []
    rows = read_csv(run.folder / "screening.csv")
    write_csv(run.folder / "screening.csv", [{**rows[0], "weight": "-1"}])
    reseal(run.folder)
    with pytest.raises(InputError, match=r"screening.csv is not a valid file of a run"):
        _ = Run(run.folder).screening


@pytest.mark.parametrize(
    ("name", "keys", "value"),
    [
        ("metrics.json", ("bags", "accuracy", "value"), "high"),
        ("metrics.json", ("bags", "accuracy", "interval"), [0.1]),
        ("metrics.json", ("n_bags",), "many"),
        ("metrics.json", ("bags",), []),
        ("parameters.json", ("data", "data"), 7),
        ("parameters.json", ("data",), {}),
        ("parameters.json", ("parameters", "level"), ["embedding"]),
        ("environment.json", (), ["no table"]),
    ],
)
def test_run_rejects_a_forged_file_by_name(digits_run, tmp_path, name, keys, value):
    folder = shutil.copytree(digits_run.folder, tmp_path / "run")
    content = read_json(folder / name)
    parent = content
    for key in keys[:-1]:
        parent = parent[key]
    if keys:
        parent[keys[-1]] = value
    write_json(folder / name, content if keys else value)
    reseal(folder)
    with pytest.raises(InputError, match=rf"{name} is not a valid file of a run"):
        getattr(Run(folder), name.removesuffix(".json"))


def test_run_rejects_other_folders(tmp_path):
    save_bags(load_dataset("needles", n_bags=4), tmp_path / "bags")
    with pytest.raises(InputError, match=r"bags .*bagwise run"):
        Run(tmp_path / "bags")
    with pytest.raises(InputError, match="nowhere"):
        Run(tmp_path / "nowhere")


def test_test_bags_rejects_changed_data(tmp_path):
    save_bags(load_dataset("needles", n_bags=30), tmp_path / "bags")
    run = make_run(tmp_path / "run", tmp_path / "bags")
    assert len(run.test_bags()) == 6
    save_bags(load_dataset("needles", n_bags=30, seed=4), tmp_path / "bags")
    with pytest.raises(InputError, match="changed since"):
        Run(tmp_path / "run").test_bags()


def test_write_csv_and_read_csv_keep_special_characters(tmp_path):
    rows = [{"bag": 'a,"\n', "value": "1"}, {"bag": "ü=cmd", "value": ""}]
    write_csv(tmp_path / "table.csv", rows)
    assert read_csv(tmp_path / "table.csv") == rows


def test_load_model_loads_runs_exports_and_saved_models(digits_run, tmp_path):
    export_run(digits_run, tmp_path / "exported")
    shutil.copytree(digits_run.folder / "model", tmp_path / "saved")
    bags = digits_run.test_bags()
    expected = load_model(digits_run.folder).predict_proba(bags)
    for folder in (tmp_path / "exported", tmp_path / "saved"):
        np.testing.assert_array_equal(load_model(folder).predict_proba(bags), expected)


def test_load_model_rejects_a_damaged_run_with_an_undamaged_model(digits_run, tmp_path):
    shutil.copytree(digits_run.folder, tmp_path / "run")
    (tmp_path / "run" / "predictions.csv").write_text("other")
    with pytest.raises(InputError, match=r"predictions\.csv"):
        load_model(tmp_path / "run")


def test_load_model_rejects_a_missing_folder_by_name(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        load_model(tmp_path / "nowhere")
