"""Execution of runs, also in several real processes started by torchrun."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from safetensors.numpy import load_file

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.registry import METHODS
from bagwise.evaluation.evaluation import evaluate
from bagwise.io.csv_files import read_csv
from bagwise.io.manifest import find_damage, hash_file
from bagwise.parallel.ranks import Ranks
from bagwise.runs.execution import assist_run, execute_run, lead_run
from bagwise.runs.run import Run, load_model
from bagwise.training.loop import TrainingStopped
from command_line import bagwise

DATA = {"data": "needles", "options": {"n_bags": 30}, "test": None}
RESULTS = ("model/model.safetensors", "predictions.csv", "weights.npy", "metrics.json")

FLAGS = ("--batch-size", "5", "--optimizer", "sgd", "--dropout", "0", "--seed", "1", "--validation", "0.3")
FLAGS += ("--data-option", "n_bags=24", "--quiet")


def describe(**parameters):
    return {"data": DATA, "parameters": {"epochs": 3, "batch_size": 4, "random_state": 2, **parameters}}


def stop_after(steps):
    remaining = iter(range(steps, -1, -1))
    return lambda: next(remaining) == 0


def test_execute_run_writes_everything_needed_to_repeat_it(tmp_path):
    run = execute_run(tmp_path / "run", describe())
    assert find_damage(tmp_path / "run") == []
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        *("parameters.json", "environment.json", "model", "history.csv", "predictions.csv", "weights.npy"),
        *("metrics.json", "baselines.json", "training.csv", "manifest.json"),
    }
    assert len(read_csv(tmp_path / "run" / "training.csv")) == len(run.parts().training)
    assert set(run.parameters["parameters"]) == set(BagClassifier().get_params())
    again = execute_run(tmp_path / "again", run.parameters)
    for name in RESULTS:
        assert hash_file(tmp_path / "run" / name) == hash_file(tmp_path / "again" / name)
    assert again.parameters == run.parameters


def test_execute_run_writes_the_predictions_of_the_model(tmp_path):
    run = execute_run(tmp_path / "run", describe())
    model = BagClassifier.load(run.folder / "model")
    bags = run.test_bags()
    np.testing.assert_array_equal(model.predict_proba(bags), run.outputs)
    np.testing.assert_array_equal(model.weigh(bags), run.weights)
    assert {row["status"] for row in run.predictions} == {"predicted"}
    assert json.loads((run.folder / "metrics.json").read_text())["n_bags"] == len(bags)


METHOD_PARAMETERS = {
    "MI-SVM": {"calibration": False},
    "extra trees": {},
    "mi-Graph": {"calibration": False},
    "MI-Net": {"epochs": 2},
    "bagwise ensemble": {"estimator__epochs": 1},
}


@pytest.mark.parametrize("method", METHOD_PARAMETERS)
def test_execute_run_trains_any_method(tmp_path, method):
    run = execute_run(
        tmp_path / "run", {"data": DATA, "method": method, "parameters": METHOD_PARAMETERS[method]}, baselines=False
    )
    model = load_model(run.folder)
    assert isinstance(model, METHODS[method].kind)
    np.testing.assert_array_equal(model.predict_proba(run.test_bags()), run.outputs)
    np.testing.assert_array_equal(model.weigh(run.test_bags()), run.weights)
    assert (len(run.history) > 0) == model.supports_checkpoint
    assert run.baselines == {}
    again = execute_run(tmp_path / "run", {"data": DATA, "parameters": {}}, resume=True)
    assert again.parameters == run.parameters


def test_execute_run_starts_an_interrupted_fit_again_if_the_method_has_no_checkpoints(tmp_path, monkeypatch):
    description = {"data": DATA, "method": "MI-SVM", "parameters": {"calibration": False}}
    whole = execute_run(tmp_path / "whole", description)
    monkeypatch.setattr("bagwise.runs.execution.evaluate", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        execute_run(tmp_path / "run", description)
    monkeypatch.undo()
    with pytest.raises(InputError, match="run"):
        Run(tmp_path / "run")
    resumed = execute_run(tmp_path / "run", {"data": DATA, "parameters": {}}, resume=True)
    for name in RESULTS:
        assert hash_file(resumed.folder / name) == hash_file(whole.folder / name)


def test_execute_run_adds_validation_bags_to_the_training_bags_of_a_method_without_epochs(tmp_path):
    bags = load_dataset("needles", n_bags=30)
    rows = [",train,val,test", *(f"{i},{bags.names[i]},{bags.names[10 + i]},{bags.names[20 + i]}" for i in range(10))]
    (tmp_path / "splits.csv").write_text("\n".join(rows))
    data = {**DATA, "splits": str(tmp_path / "splits.csv")}
    run = execute_run(tmp_path / "run", {"data": data, "method": "extra trees", "parameters": {}}, baselines=False)
    assert [row["use"] for row in run.training] == ["training"] * 20


def test_execute_run_writes_labels_as_classes_of_the_model(tmp_path):
    bags = load_dataset("needles", n_bags=10)
    save_bags(bags.replace(labels=bags.labels.astype(float)), tmp_path / "other")
    data = {**DATA, "test": str(tmp_path / "other")}
    run = execute_run(tmp_path / "run", {**describe(), "data": data})
    assert {row["label"] for row in run.predictions} == {"0", "1"}
    np.testing.assert_array_equal(run.targets, bags.labels)


def test_execute_run_writes_predictions_of_groups(tmp_path):
    bags = load_dataset("needles", n_bags=40)
    groups = np.array([f"{label}-{bag // 4}" for bag, label in enumerate(bags.labels)])  # one label per group
    save_bags(bags.replace(groups=groups), tmp_path / "bags")
    data = {"data": str(tmp_path / "bags"), "options": {}, "test": None}
    run = execute_run(tmp_path / "run", {**describe(), "data": data})
    with (run.folder / "groups.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == run.metrics["groups"]["n_groups"] == len({row["group"] for row in run.predictions})
    assert find_damage(run.folder) == []


def test_execute_run_finds_files_named_by_options_from_any_folder(tmp_path, monkeypatch):
    rows = [f"bag{number},{number}" for number in range(20)]
    (tmp_path / "instances.csv").write_text("bag,f\n" + "\n".join(rows) + "\n")
    labels = [f"bag{number},{number % 2}" for number in range(20)]
    (tmp_path / "labels.csv").write_text("bag,label\n" + "\n".join(labels) + "\n")
    monkeypatch.chdir(tmp_path)
    data = {"data": "instances.csv", "options": {"bags": "labels.csv"}, "test": None}
    folder = execute_run("run", {**describe(), "data": data}).folder.resolve()
    monkeypatch.chdir("/")
    assert len(Run(folder).test_bags()) == 4


@pytest.mark.parametrize(
    "parameters", [{"pooling": "isr"}, {"encoder": "lenet"}, {"learning_rate": -1.0}, {"device": "gpu"}], ids=str
)
def test_execute_run_writes_nothing_if_parameters_are_invalid(tmp_path, parameters):
    with pytest.raises(InputError):
        execute_run(tmp_path / "run", describe(**parameters))
    assert not (tmp_path / "run").exists()


def test_execute_run_never_overwrites_a_folder(tmp_path):
    execute_run(tmp_path / "run", describe())
    with pytest.raises(InputError, match="already has a run; add --resume"):
        execute_run(tmp_path / "run", describe())
    with pytest.raises(InputError, match="started with epochs = 3, but now it is 9"):
        execute_run(tmp_path / "run", describe(epochs=9), resume=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear …")
    with pytest.raises(InputError, match="mine exists and is not a run; choose a new folder"):
        execute_run(tmp_path / "mine", describe())


def test_execute_run_resumes_to_the_same_result(tmp_path):
    whole = execute_run(tmp_path / "whole", describe(validation=0.2))
    for steps in (2, 8):
        with pytest.raises(TrainingStopped):
            execute_run(
                tmp_path / "resumed", describe(validation=0.2), resume=steps == 8, should_stop=stop_after(steps)
            )
    with pytest.raises(InputError, match="not finished"):
        Run(tmp_path / "resumed")
    execute_run(tmp_path / "resumed", {"data": DATA, "parameters": {}}, resume=True)
    for name in RESULTS:
        assert hash_file(whole.folder / name) == hash_file(tmp_path / "resumed" / name)
    assert not (tmp_path / "resumed" / "checkpoint.safetensors").exists()


@pytest.mark.parametrize("function", ["save", "write_csv", "write_manifest"])
def test_execute_run_resumes_after_an_interruption_while_writing_results(tmp_path, monkeypatch, function):
    """The checkpoint is kept until the run is sealed."""
    whole = execute_run(tmp_path / "whole", describe())

    def interrupt(*arguments, **keywords):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if function == "save":
            patch.setattr(BagClassifier, "save", interrupt)
        else:
            patch.setattr(f"bagwise.runs.execution.{function}", interrupt)
        with pytest.raises(KeyboardInterrupt):
            execute_run(tmp_path / "resumed", describe())
    assert (tmp_path / "resumed" / "checkpoint.safetensors").exists()
    execute_run(tmp_path / "resumed", describe(), resume=True)
    assert hash_file(tmp_path / "resumed" / "weights.npy") == hash_file(whole.folder / "weights.npy")
    assert not (tmp_path / "resumed" / "checkpoint.safetensors").exists()


def test_execute_run_stops_when_requested_during_the_evaluation(tmp_path, monkeypatch):
    requests = []

    def evaluate_and_request_stop(*arguments):
        requests.append(True)
        return evaluate(*arguments)

    monkeypatch.setattr("bagwise.runs.execution.evaluate", evaluate_and_request_stop)
    with pytest.raises(TrainingStopped):
        execute_run(tmp_path / "run", describe(), should_stop=lambda: bool(requests))
    assert not (tmp_path / "run" / "manifest.json").exists()
    monkeypatch.undo()
    assert execute_run(tmp_path / "run", describe(), resume=True).metrics["n_bags"] == 6


def test_execute_run_resumes_with_names_in_another_spelling(tmp_path):
    execute_run(tmp_path / "run", describe())
    assert execute_run(tmp_path / "run", describe(pooling="gated-attention"), resume=True).folder == tmp_path / "run"
    with pytest.raises(InputError, match="started with pooling = 'gated attention', but now it is 'max'"):
        execute_run(tmp_path / "run", describe(pooling="max"), resume=True)


@pytest.mark.parametrize("content", ["{}", "[]", '{"data": {}, "parameters": 3}', '{"data": {"data": "digits"}}'])
def test_execute_run_rejects_to_resume_damaged_parameters(tmp_path, content):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "parameters.json").write_text(content)
    with pytest.raises(InputError, match=r"parameters\.json is damaged"):
        execute_run(tmp_path / "run", describe(), resume=True)


def test_execute_run_keeps_both_environments_when_resumed_elsewhere(tmp_path, monkeypatch):
    with pytest.raises(TrainingStopped):
        execute_run(tmp_path / "run", describe(), should_stop=stop_after(1))
    before = json.loads((tmp_path / "run" / "environment.json").read_text())
    monkeypatch.setattr("bagwise.runs.execution.describe_environment", lambda device: {**before, "cores": 512})
    with pytest.warns(UserWarning, match="an environment with different cores"):
        environment = execute_run(tmp_path / "run", describe(), resume=True).environment
    assert (environment["cores"], environment["earlier"]) == (512, [before])


def test_execute_run_removes_temporary_files_of_killed_processes(tmp_path):
    with pytest.raises(TrainingStopped):
        execute_run(tmp_path / "run", describe(), should_stop=stop_after(1))
    (tmp_path / "run" / ".tmp-0").mkdir()
    (tmp_path / "run" / ".tmp-0" / "model.json").touch()
    (tmp_path / "run" / ".tmp-1").touch()
    execute_run(tmp_path / "run", describe(), resume=True)
    assert not list((tmp_path / "run").glob(".*"))


def test_execute_run_removes_the_checkpoint_of_a_sealed_run(tmp_path):
    """A process may be killed between sealing the run and removing the checkpoint."""
    execute_run(tmp_path / "run", describe())
    (tmp_path / "run" / "checkpoint.safetensors").touch()
    execute_run(tmp_path / "run", describe(), resume=True)
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()


def test_execute_run_does_not_train_a_finished_run_again(tmp_path, monkeypatch):
    execute_run(tmp_path / "run", describe())
    monkeypatch.setattr(BagClassifier, "fit", None)
    assert execute_run(tmp_path / "run", describe(), resume=True).metrics["n_bags"] == 6


def test_execute_run_returns_a_finished_run_in_a_read_only_folder(tmp_path, monkeypatch):
    execute_run(tmp_path / "run", describe())

    open_file = os.open

    def refuse_to_write(path, flags, *arguments, **options):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise PermissionError
        return open_file(path, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse_to_write)
    assert execute_run(tmp_path / "run", describe(), resume=True).metrics["n_bags"] == 6


class RecordingRanks(Ranks):
    """The first of two processes; it records the texts that it sends."""

    def __init__(self):
        super().__init__(0, 2)
        self.sent = []

    def broadcast(self, text=""):
        self.sent.append(text)
        return text


@pytest.fixture
def ranks(monkeypatch):
    ranks = RecordingRanks()
    monkeypatch.setattr("bagwise.runs.execution.get_ranks", lambda: ranks)
    return ranks


def test_lead_run_sends_one_message_even_after_an_error(tmp_path, ranks):
    with lead_run() as leader:
        leader.send_task({"data": {}, "parameters": {}}, tmp_path / "checkpoint")
    assert len(ranks.sent) == 1
    with pytest.raises(RuntimeError), lead_run():
        raise RuntimeError("refused")
    assert ranks.sent[1:] == [""]


def test_execute_run_dismisses_other_processes_if_there_is_nothing_to_train(digits_run, tmp_path, ranks):
    description = {**digits_run.parameters, "parameters": {}}
    assert execute_run(digits_run.folder, description, resume=True).folder == digits_run.folder
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is not a run"):
        execute_run(tmp_path, description)
    assert ranks.sent == ["", ""]


@pytest.mark.usefixtures("ranks")
def test_assist_run_does_nothing_without_a_task(monkeypatch):
    monkeypatch.setattr("bagwise.runs.execution.split_source", None)
    assert assist_run() is None


def start_torchrun(*words, cwd, n_processes=2):
    command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={n_processes}", "-m", "bagwise"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([*command, *words], cwd=cwd, env=environment, stderr=subprocess.PIPE, text=True)


def list_children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def assert_models_close(first, second):
    arrays, others = (load_file(folder / "model" / "model.safetensors") for folder in (first, second))
    for name in arrays:
        np.testing.assert_allclose(arrays[name], others[name], rtol=1e-6, atol=1e-6)


def test_train_with_two_processes_gives_the_model_of_one(tmp_path):
    process = start_torchrun("train", "needles", "two", "--epochs", "3", *FLAGS, cwd=tmp_path)
    stderr = process.communicate(timeout=240)[1]
    assert process.returncode == 0, stderr
    single = bagwise("train", "needles", "one", "--epochs", "3", "--engine", "torch", *FLAGS, cwd=tmp_path)
    assert single.returncode == 0, single.stderr
    assert_models_close(tmp_path / "one", tmp_path / "two")
    losses = [[row["validation_loss"] for row in Run(tmp_path / name).history] for name in ("one", "two")]
    np.testing.assert_allclose(*losses, rtol=1e-6)


@pytest.mark.full
def test_train_resumes_with_the_same_losses_after_a_process_was_killed(tmp_path):
    process = start_torchrun("train", "needles", "killed", "--epochs", "400", *FLAGS, cwd=tmp_path)
    checkpoint = tmp_path / "killed" / "checkpoint.safetensors"
    while not checkpoint.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.kill(max(list_children(process.pid)), signal.SIGKILL)
    process.communicate(timeout=240)
    assert process.returncode != 0
    assert checkpoint.exists()
    assert bagwise("train", "needles", "killed", "--resume", "-q", cwd=tmp_path).returncode == 0
    whole = bagwise("train", "needles", "whole", "--epochs", "400", "--engine", "torch", *FLAGS, cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    losses = [[row["loss"] for row in Run(tmp_path / name).history] for name in ("killed", "whole")]
    np.testing.assert_allclose(*losses, rtol=0.01)  # sums over two processes are rounded differently; it was 1e-4


@pytest.mark.full
def test_train_error_ends_all_processes_and_is_printed_once(tmp_path):
    process = start_torchrun("train", "needles", "run", "--epochs", "1", "--data-option", "n_bags=24", cwd=tmp_path)
    stderr = process.communicate(timeout=240)[1]
    assert process.returncode != 0
    assert stderr.count("bagwise: ") == 1
    assert not (tmp_path / "run").exists()
