import json
import os
import re
import shlex
import signal

import pytest

from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.io.manifest import hash_file
from command_line import QUICK, bagwise, bagwise_process, run_rejected


def test_train_prints_written_files_and_next_step(tmp_path):
    result = bagwise_process("train", "needles", "run", *QUICK, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for words in ("Accuracy", "95 % interval", "wrote run: run", "wrote report: run/report.html", "next: open"):
        assert words in result.stdout
    assert (tmp_path / "run" / "report.html").exists()


def test_train_json_is_one_object_and_quiet_prints_nothing(tmp_path):
    result = bagwise("train", "needles", "run", *QUICK, "--json", cwd=tmp_path)
    assert json.loads(result.stdout)["metrics"]["n_bags"] == 6
    silent = bagwise("train", "needles", "other", *QUICK, "--validation", "none", "--quiet", cwd=tmp_path)
    assert (silent.stdout, silent.stderr, silent.returncode) == ("", "", 0)


def test_train_toml_file_and_flags_give_the_same_model(tmp_path):
    (tmp_path / "run.toml").write_text(
        'epochs = 2\nbatch_size = 8\npooling = "noisy-or"\nlevel = "instance"\n[data]\nn_bags = 30\n'
    )
    bagwise("train", "needles", "file", "--config", "run.toml", "-q", cwd=tmp_path)
    bagwise("train", "needles", "flags", *QUICK, "--pooling", "noisy_or", "--level", "instance", "-q", cwd=tmp_path)
    models = [tmp_path / name / "model" / "model.safetensors" for name in ("file", "flags")]
    assert hash_file(models[0]) == hash_file(models[1])


def test_train_with_a_method_gives_a_run_for_every_other_command(tmp_path):
    flags = (
        "--method",
        "MI-SVM",
        "--method-option",
        "calibration=false",
        "--seed",
        "3",
        "--data-option",
        "n_bags=30",
        "-q",
    )
    assert bagwise("train", "needles", "run", *flags, cwd=tmp_path).returncode == 0
    stored = json.loads((tmp_path / "run" / "parameters.json").read_text())
    assert (stored["method"], stored["parameters"]["calibration"]) == ("MI-SVM", 0)
    assert stored["parameters"]["random_state"] == stored["data"]["split_seed"] == 3
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert json.loads(bagwise("evaluate", "run", "--json", cwd=tmp_path).stdout) == metrics
    for words in (
        ["report", "run"],
        ["explain", "run"],
        ["explain", "run", "--bag", "bag-0007", "--out", "bag"],
        ["export", "run", "--out", "exported"],
        ["predict", "run", "needles", "--data-option", "n_bags=5", "--out", "predictions.csv"],
        ["check", "run"],
        ["evaluate", "exported", "needles", "--data-option", "n_bags=20"],
        ["train", "needles", "run", "--resume"],
    ):
        result = bagwise(*words, cwd=tmp_path)
        assert result.returncode == 0, (words, result.stderr)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "MI-SVM on needles" in page
    assert "Learning curves" not in page
    assert "Baselines on the same split" in page


def test_train_applies_flags_to_the_networks_of_an_ensemble(tmp_path):
    flags = ("--epochs", "1", "--data-option", "n_bags=30", "--no-baselines", "-q")
    assert bagwise("train", "needles", "run", "--method", "bagwise-ensemble", *flags, cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "run" / "parameters.json").read_text())["parameters"]["estimator__epochs"] == 1
    assert not (tmp_path / "run" / "baselines.json").exists()


def test_train_reads_the_parameters_of_a_method_from_a_toml_file(tmp_path):
    (tmp_path / "svm.toml").write_text("C = 3.0\ncalibration = false\nseed = 4\n[data]\nn_bags = 30\n")
    words = ("train", "needles", "run", "--method", "MI-SVM", "--config", "svm.toml", "-q")
    assert bagwise(*words, cwd=tmp_path).returncode == 0
    stored = json.loads((tmp_path / "run" / "parameters.json").read_text())["parameters"]
    assert (stored["C"], stored["random_state"]) == (3.0, 4)


@pytest.mark.parametrize("command", [["explain"], ["report"], ["view"], ["evaluate"]])
def test_commands_that_need_test_bags_reject_a_saved_model_with_what_to_do(tmp_path, command):
    from bagwise.data.datasets.registry import load_dataset
    from bagwise.estimators.classical.pooled import PooledClassifier

    bags = load_dataset("needles", n_bags=30)
    PooledClassifier().fit(bags, bags.labels).save(tmp_path / "model")
    assert "bagwise evaluate model DATA" in run_rejected(*command, "model", cwd=tmp_path)


def test_train_auto_within_a_budget_is_repeated_by_its_printed_list(tmp_path):
    auto = ("--method", "auto", "--data-option", "n_bags=40")
    names = "extra-trees,mi-Graph,mi-svm,naive"
    result = bagwise("train", "needles", "first", *auto, "--screen", names, "--budget", "1s", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "screening, on held-out training bags" in result.stdout
    flag, listed = shlex.split(re.search(r"repeat this screening with: (.+)", result.stdout)[1])
    assert (flag, listed) == ("--screen", "extra trees,mi-Graph,mi-SVM")
    again = bagwise("train", "needles", "again", *auto, flag, listed, "--json", cwd=tmp_path)
    assert [row["method"] for row in json.loads(again.stdout)["screening"]] == listed.split(",")
    for name in ("model/model.safetensors", "screening.csv", "predictions.csv", "metrics.json"):
        assert hash_file(tmp_path / "first" / name) == hash_file(tmp_path / "again" / name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["needles", "--screen", "naive"], "--screen needs --method auto"),
        (["needles", "--budget", "10m"], "--budget needs --method auto"),
        (["needles", "--method", "MI-SVM", "--budget", "10m"], "MI-SVM has no parameter for --budget"),
        (["needles", "--method", "super learner", "--screen", "naive"], "super learner has no parameter for --screen"),
        (["needles", "--method", "auto", "--budget", "soon"], "budget is 'soon' (str); it must be a duration"),
        (
            ["needles", "--method", "auto", "--budget", "0.01s"],
            "is expected to take 0.1 s; set budget to at least '1s'",
        ),
        (["needles", "--method", "auto", "--screen", "naiv"], "did you mean 'naive'"),
        (["needles", "--method", "auto", "--screen", ","], "it must be a list of names of methods"),
        (["needles", "--method", "MI-SWM"], "method 'MI-SWM' is unknown; did you mean"),
        (["needles", "--method", "MI-SVM", "--epochs", "3"], "MI-SVM has no parameter for --epochs"),
        (["needles", "--method", "MI-Net", "--pooling", "mean"], "or fixes it"),
        (["needles", "--method", "MI-SVM", "--method-option", "D=3"], "MI-SVM has no parameter 'D'"),
        (["needles", "--method", "MI-SVM", "--method-option", "C"], "is not of the form NAME=VALUE"),
        (["needles", "--method-option", "C=3"], "needs --method NAME"),
        (["needles", "--method", "MI-SVM", "--preset", "bagwise"], "mutually exclusive"),
        (["digitz"], "did you mean 'digits'"),
        (["needles", "--pooling", "atention"], "did you mean 'attention'"),
        (["needles", "--pooling", "isr"], "use level='instance'"),
        (["needles", "--encoder", "lenet"], "use encoder='mlp'"),
        (["needles", "--learning-rate", "-1"], "learning_rate is -1.0"),
        (["needles", "--epochs", "many"], "epochs is 'many'"),
        (["needles", "--heads", "many"], "Invalid value for '--heads'"),
        (["needles", "--device", "gpu"], "device 'gpu' is unknown"),
        (["needles", "--test", "nowhere"], "no such file or folder: nowhere"),
        (["needles", "--test", "1.5"], "it must be a number above 0 and below 1"),
        (["needles", "--data-option", "n_bag=3"], "did you mean 'n_bags'"),
        (["needles", "--config", "nowhere.toml"], "nowhere.toml"),
        (["needles", "--patience", "3", "--validation", "none"], "patience needs one set of validation bags"),
        (["needles", "--validation", "0"], "validation is 0; it must be a share between 0 and 1, a number of folds"),
        (["needles", "--pooling", "max", "--heads", "0"], "heads is 0"),
        (["needles", "--class-weight", "foo"], "class_weight"),
        (["needles", "--test", "digits"], "use test bags with instances of the same shape"),
        (["needles", "--data-option", "n_bags=abc"], "n_bags must be an integer, got 'abc'"),
        (["digits", "--data-option", "split=test"], "leave out --data-option split=test"),
    ],
    ids=str,
)
def test_train_rejects_wrong_arguments_and_writes_nothing(tmp_path, arguments, message):
    data, *flags = arguments
    assert message in run_rejected("train", data, "run", *flags, cwd=tmp_path)
    assert not (tmp_path / "run").exists()


def test_train_stores_data_path_valid_from_any_folder(tmp_path):
    from bagwise.bags.folder import save_bags
    from bagwise.data.datasets.registry import load_dataset

    save_bags(load_dataset("needles", n_bags=30), tmp_path / "bags")
    assert bagwise("train", "bags", "run", "--epochs", "1", "-q", cwd=tmp_path).returncode == 0
    (tmp_path / "elsewhere").mkdir()
    result = bagwise("evaluate", "../run", "--json", cwd=tmp_path / "elsewhere")
    assert json.loads(result.stdout)["n_bags"] == 6


def test_train_warns_once_of_a_feature_that_determines_the_label(tmp_path):
    rows = [f"b{n // 2},{n // 2 % 2},{n * 7 % 13},{n // 2 % 2 + 3}" for n in range(48)]
    (tmp_path / "table.csv").write_text("\n".join(["bag,label,mass,outcome", *rows]))
    result = bagwise_process("train", "table.csv", "run", "--epochs", "1", cwd=tmp_path)
    assert result.stderr.count("feature 'outcome' of the training bags determines the label") == 1


def test_train_without_checkpoint_says_on_ctrl_c_that_it_starts_again(tmp_path, monkeypatch):
    def interrupt(*_):
        os.kill(os.getpid(), signal.SIGINT)

    words = ("train", "needles", "run", "--method", "extra-trees", "--data-option", "n_bags=30")
    with monkeypatch.context() as patch:
        patch.setattr(PooledClassifier, "fit", interrupt)
        result = bagwise(*words, cwd=tmp_path)
    assert result.returncode == 130
    assert "This method has no checkpoint. Start it again with:\n  bagwise train needles run --resume" in result.stderr
    assert bagwise("train", "needles", "run", "--resume", cwd=tmp_path).returncode == 0
