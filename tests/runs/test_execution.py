import json

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.files import damages, sha256
from bagwise.runs import Run, execute
from bagwise.training import TrainingStopped

DATA = {"data": "needles", "options": {"n_bags": 30}, "test": None}


def describe(**parameters):
    return {"data": DATA, "parameters": {"epochs": 3, "batch_size": 4, "random_state": 2, **parameters}}


def stop_after(steps):
    left = iter(range(steps, -1, -1))
    return lambda: next(left) == 0


def test_a_run_holds_everything_and_can_be_repeated_from_its_own_parameters(tmp_path):
    run = execute(tmp_path / "run", describe())
    assert damages(tmp_path / "run") == []
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {
        *("parameters.json", "environment.json", "model", "history.csv", "predictions.csv", "weights.npy"),
        *("metrics.json", "manifest.json"),
    }
    assert set(run.parameters["parameters"]) == set(BagClassifier().get_params())
    again = execute(tmp_path / "again", run.parameters)
    for name in ("model/model.safetensors", "predictions.csv", "weights.npy", "metrics.json"):
        assert sha256(tmp_path / "run" / name) == sha256(tmp_path / "again" / name)
    assert again.parameters == run.parameters


def test_a_run_that_was_stopped_goes_on_and_ends_the_same(tmp_path):
    whole = execute(tmp_path / "whole", describe(validation=0.2))
    for steps in (2, 8):
        with pytest.raises(TrainingStopped):
            execute(tmp_path / "cut", describe(validation=0.2), resume=steps == 8, should_stop=stop_after(steps))
    with pytest.raises(InputError, match="not finished"):
        Run(tmp_path / "cut")
    execute(tmp_path / "cut", {"data": DATA, "parameters": {}}, resume=True)
    for name in ("model/model.safetensors", "predictions.csv", "weights.npy", "metrics.json"):
        assert sha256(whole.folder / name) == sha256(tmp_path / "cut" / name)
    assert not (tmp_path / "cut" / "checkpoint.safetensors").exists()


def test_a_finished_run_is_not_trained_again(tmp_path):
    execute(tmp_path / "run", describe())
    before = (tmp_path / "run" / "manifest.json").stat().st_mtime_ns
    assert execute(tmp_path / "run", describe(), resume=True).metrics["n_bags"] == 6
    assert (tmp_path / "run" / "manifest.json").stat().st_mtime_ns == before


def test_a_folder_is_never_written_over(tmp_path):
    execute(tmp_path / "run", describe())
    with pytest.raises(InputError, match="holds a run already; add --resume"):
        execute(tmp_path / "run", describe())
    with pytest.raises(InputError, match="begun with epochs = 3, and now it is 9"):
        execute(tmp_path / "run", describe(epochs=9), resume=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear …")
    with pytest.raises(InputError, match="is not a run; choose a new folder"):
        execute(tmp_path / "mine", describe())


def test_impossible_parameters_leave_no_folder(tmp_path):
    for parameters in ({"pooling": "isr"}, {"encoder": "lenet"}, {"learning_rate": -1.0}, {"device": "gpu"}):
        with pytest.raises(InputError):
            execute(tmp_path / "run", describe(**parameters))
    assert not (tmp_path / "run").exists()


def test_what_is_stored_is_what_the_model_predicts(tmp_path):
    run = execute(tmp_path / "run", describe())
    model = BagClassifier.load(run.folder / "model")
    bags = run.test_bags()
    np.testing.assert_array_equal(model.predict_proba(bags), run.probabilities)
    np.testing.assert_array_equal(model.weigh(bags), run.weights)
    assert json.loads((run.folder / "metrics.json").read_text())["n_bags"] == len(bags)


@pytest.mark.parametrize("moment", ["save", "write_table", "write_manifest"])
def test_a_run_cut_while_its_results_are_written_ends_the_same(tmp_path, monkeypatch, moment):
    """The checkpoint stays until the run is sealed."""
    whole = execute(tmp_path / "whole", describe())

    def cut(*arguments, **facts):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if moment == "save":
            patch.setattr(BagClassifier, "save", cut)
        else:
            patch.setattr(f"bagwise.runs.execution.{moment}", cut)
        with pytest.raises(KeyboardInterrupt):
            execute(tmp_path / "cut", describe())
    assert (tmp_path / "cut" / "checkpoint.safetensors").exists()
    execute(tmp_path / "cut", describe(), resume=True)
    assert sha256(tmp_path / "cut" / "weights.npy") == sha256(whole.folder / "weights.npy")
    assert not (tmp_path / "cut" / "checkpoint.safetensors").exists()
