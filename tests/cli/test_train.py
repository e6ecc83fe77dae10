import json

import pytest

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
    silent = bagwise("train", "needles", "other", *QUICK, "--quiet", cwd=tmp_path)
    assert (silent.stdout, silent.stderr, silent.returncode) == ("", "", 0)


def test_train_toml_file_and_flags_give_the_same_model(tmp_path):
    (tmp_path / "run.toml").write_text(
        'epochs = 2\nbatch_size = 8\npooling = "noisy-or"\nlevel = "instance"\n[data]\nn_bags = 30\n'
    )
    bagwise("train", "needles", "file", "--config", "run.toml", "-q", cwd=tmp_path)
    bagwise("train", "needles", "flags", *QUICK, "--pooling", "noisy_or", "--level", "instance", "-q", cwd=tmp_path)
    models = [tmp_path / name / "model" / "model.safetensors" for name in ("file", "flags")]
    assert hash_file(models[0]) == hash_file(models[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["digitz"], "did you mean 'digits'"),
        (["needles", "--pooling", "atention"], "did you mean 'attention'"),
        (["needles", "--pooling", "isr"], "use level='instance'"),
        (["needles", "--encoder", "lenet"], "use encoder='mlp'"),
        (["needles", "--learning-rate", "-1"], "learning_rate is -1.0"),
        (["needles", "--epochs", "many"], "Invalid value for '--epochs'"),
        (["needles", "--device", "gpu"], "device 'gpu' is unknown"),
        (["needles", "--test", "nowhere"], "neither an existing file or folder nor a data set"),
        (["needles", "--test", "1.5"], "it must be a number above 0 and below 1"),
        (["needles", "--data-option", "n_bag=3"], "did you mean 'n_bags'"),
        (["needles", "--config", "nowhere.toml"], "nowhere.toml"),
        (["needles", "--patience", "3"], "patience needs validation"),
        (["needles", "--patience", "3", "--validation", "0"], "validation is 0.0; it must be a number above 0"),
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
