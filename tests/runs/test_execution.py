import csv
import json

import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.evaluation import evaluate
from bagwise.files import sha256
from bagwise.manifests import damages
from bagwise.runs import Run, execute
from bagwise.runs.run import read_table
from bagwise.storage import save_bags
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
        *("metrics.json", "training.csv", "manifest.json"),
    }
    assert len(read_table(tmp_path / "run" / "training.csv")) == len(run.parts().training)
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


def test_labels_are_written_as_the_model_knows_them(tmp_path):
    bags = load_dataset("needles", n_bags=10)
    save_bags(bags.replace(labels=bags.labels.astype(float)), tmp_path / "other")
    data = {**DATA, "test": str(tmp_path / "other")}
    run = execute(tmp_path / "run", {**describe(), "data": data})
    assert {row["label"] for row in run.predictions} == {"0", "1"}
    np.testing.assert_array_equal(run.targets, bags.labels)


def test_names_typed_otherwise_are_no_difference_to_a_resume(tmp_path):
    execute(tmp_path / "run", describe())
    assert execute(tmp_path / "run", describe(pooling="gated-attention"), resume=True).folder == tmp_path / "run"
    with pytest.raises(InputError, match="begun with pooling = 'gated attention', and now it is 'max'"):
        execute(tmp_path / "run", describe(pooling="max"), resume=True)


@pytest.mark.parametrize("content", ["{}", "[]", '{"data": {}, "parameters": 3}', '{"data": {"data": "digits"}}'])
def test_damaged_parameters_are_refused_on_a_resume(tmp_path, content):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "parameters.json").write_text(content)
    with pytest.raises(InputError, match=r"parameters\.json is damaged"):
        execute(tmp_path / "run", describe(), resume=True)


def test_a_run_that_goes_on_elsewhere_keeps_both_environments(tmp_path, monkeypatch):
    with pytest.raises(TrainingStopped):
        execute(tmp_path / "run", describe(), should_stop=stop_after(1))
    before = json.loads((tmp_path / "run" / "environment.json").read_text())
    monkeypatch.setattr("bagwise.runs.execution.describe_environment", lambda device: {**before, "cores": 512})
    with pytest.warns(UserWarning, match="begun with another cores"):
        environment = execute(tmp_path / "run", describe(), resume=True).environment
    assert (environment["cores"], environment["earlier"]) == (512, [before])


def test_a_request_to_stop_during_the_evaluation_is_heard(tmp_path, monkeypatch):
    asked = []

    def evaluate_and_ask(*arguments):
        asked.append(True)
        return evaluate(*arguments)

    monkeypatch.setattr("bagwise.runs.execution.evaluate", evaluate_and_ask)
    with pytest.raises(TrainingStopped):
        execute(tmp_path / "run", describe(), should_stop=lambda: bool(asked))
    assert not (tmp_path / "run" / "manifest.json").exists()
    monkeypatch.undo()
    assert execute(tmp_path / "run", describe(), resume=True).metrics["n_bags"] == 6


def test_files_named_by_options_are_found_from_any_folder(tmp_path, monkeypatch):
    rows = [f"bag{number},{number}" for number in range(20)]
    (tmp_path / "instances.csv").write_text("bag,f\n" + "\n".join(rows) + "\n")
    labels = [f"bag{number},{number % 2}" for number in range(20)]
    (tmp_path / "labels.csv").write_text("bag,label\n" + "\n".join(labels) + "\n")
    monkeypatch.chdir(tmp_path)
    data = {"data": "instances.csv", "options": {"bags": "labels.csv"}, "test": None}
    run = execute("run", {**describe(), "data": data})
    folder = run.folder.resolve()
    monkeypatch.chdir("/")
    assert len(Run(folder).test_bags()) == 4


def test_a_finished_run_is_returned_from_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    execute(tmp_path / "run", describe())

    def read_only(*arguments):
        raise PermissionError

    monkeypatch.setattr("bagwise.claims.os.open", read_only)
    assert execute(tmp_path / "run", describe(), resume=True).metrics["n_bags"] == 6


def test_what_killed_processes_left_is_removed_when_the_run_goes_on(tmp_path):
    with pytest.raises(TrainingStopped):
        execute(tmp_path / "run", describe(), should_stop=stop_after(1))
    (tmp_path / "run" / ".draft-0").mkdir()
    (tmp_path / "run" / ".draft-0" / "model.json").touch()
    (tmp_path / "run" / ".draft-1").touch()
    execute(tmp_path / "run", describe(), resume=True)
    assert not list((tmp_path / "run").glob(".*"))


def test_a_run_sealed_by_a_process_that_was_killed_right_after_loses_its_checkpoint(tmp_path):
    execute(tmp_path / "run", describe())
    (tmp_path / "run" / "checkpoint.safetensors").touch()
    execute(tmp_path / "run", describe(), resume=True)
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()


def test_groups_are_judged_too(tmp_path):
    bags = load_dataset("needles", n_bags=40)
    groups = np.array([f"{label}-{bag // 4}" for bag, label in enumerate(bags.labels)])  # of one label each
    save_bags(bags.replace(groups=groups), tmp_path / "bags")
    data = {"data": str(tmp_path / "bags"), "options": {}, "test": None}
    run = execute(tmp_path / "run", {**describe(), "data": data})
    with (run.folder / "groups.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == run.metrics["groups"]["n_groups"] == len({row["group"] for row in run.predictions})
    assert damages(run.folder) == []
