import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.runs import Run, execute, write_table
from bagwise.runs.run import read_table
from bagwise.storage import save_bags


def make(folder, data, **parameters):
    description = {"data": {"data": str(data), "options": {}, "test": None}, "parameters": {"epochs": 2, **parameters}}
    return execute(folder, description)


def test_reading_gives_arrays_that_fit_each_other(tmp_path):
    save_bags(load_dataset("needles", n_bags=30).replace(labels=["no", "yes"] * 15), tmp_path / "bags")
    run = make(tmp_path / "run", tmp_path / "bags", validation=0.2)
    assert run.classes == ["no", "yes"]
    assert run.offsets[-1] == len(run.weights)
    np.testing.assert_allclose(np.add.reduceat(run.weights, run.offsets[:-1]), 1, atol=1e-5)
    predicted = np.array([row["predicted"] for row in run.predictions])
    np.testing.assert_array_equal(np.array(run.classes)[run.probabilities.argmax(axis=1)], predicted)
    accuracy = (run.probabilities.argmax(axis=1) == run.targets).mean()
    assert accuracy == pytest.approx(run.metrics["bags"]["accuracy"]["value"])
    assert [row["epoch"] for row in run.history] == [1, 2]
    assert run.history[0]["validation_loss"] is not None
    assert run.environment["python"]


def test_changed_data_is_not_shown_as_the_runs_own(tmp_path):
    save_bags(load_dataset("needles", n_bags=30), tmp_path / "bags")
    run = make(tmp_path / "run", tmp_path / "bags")
    assert len(run.test_bags()) == 6
    save_bags(load_dataset("needles", n_bags=30, seed=4), tmp_path / "bags")
    with pytest.raises(InputError, match="changed since"):
        Run(tmp_path / "run").test_bags()


def test_what_is_no_run_is_refused(tmp_path):
    save_bags(load_dataset("needles", n_bags=4), tmp_path / "bags")
    with pytest.raises(InputError, match="is not a bagwise run folder"):
        Run(tmp_path / "bags")
    with pytest.raises(InputError, match="is not a folder"):
        Run(tmp_path / "nowhere")


def test_tables_come_back_as_they_were(tmp_path):
    rows = [{"bag": 'a,"\n', "value": "1"}, {"bag": "ü=cmd", "value": ""}]
    write_table(tmp_path / "table.csv", rows)
    assert read_table(tmp_path / "table.csv") == rows
