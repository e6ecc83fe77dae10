import inspect
import json

import pytest

from bagwise.cli.options import PARAMETERS, PYTHON_NAMES, choose_workers, gather_parameters, read_methods, read_options
from bagwise.cli.train import train
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.registry import METHODS
from bagwise.parallel.dask_cluster import DaskCluster
from command_line import bagwise


def test_parameters_have_the_same_names_in_python_flags_and_toml():
    words = {PYTHON_NAMES.get(name, name) for name in PARAMETERS}
    assert words == set(BagClassifier().get_params()) - {"context", "verbose"}  # a context is a module, without a name
    assert set(inspect.signature(train).parameters) >= PARAMETERS.keys()


def test_parameter_defaults_in_help_are_those_of_bag_classifier():
    defaults = BagClassifier().get_params()
    for name, parameter in PARAMETERS.items():
        if name == "seed":  # a command must be reproducible, so it has a fixed default
            assert (defaults["random_state"], parameter.default) == (None, "0")
            continue
        default, shown = defaults[PYTHON_NAMES.get(name, name)], parameter.default.split(";")[0]
        if isinstance(default, bool):
            assert shown == ("yes" if default else "no"), name
        elif isinstance(default, int | float):
            assert float(shown) == default, name
        elif isinstance(default, str):
            assert shown == default, name
        else:
            assert shown in {
                "none",
                "all",
                "0.5 for mlp and nucleus cnn, 0 for lenet",
                PARAMETERS["positive"].default,
            }, name


def test_gather_parameters_flags_take_precedence_over_file(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text('epochs = 7\npooling = "max"\nseed = 3\nlearning_rate = 1\n[data]\nn_bags = 12\n')
    parameters, options = gather_parameters({"epochs": 9, "dropout": None}, file)
    assert parameters == {"epochs": 9, "pooling": "max", "random_state": 3, "learning_rate": 1}
    assert options == {"n_bags": 12}
    assert gather_parameters({"epochs": None}, None) == ({}, {})


def test_validation_is_read_alike_from_flags_files_and_options(tmp_path):
    file, methods = tmp_path / "run.toml", tmp_path / "methods.toml"
    file.write_text('validation = "none"\n')
    methods.write_text(
        '[methods.attention]\nvalidation = "none"\n[methods."bagwise ensemble"]\nestimator__memory = "1GB"\n'
    )
    assert gather_parameters({"validation": "none"}, None)[0] == {"validation": None}
    assert gather_parameters({}, file)[0] == {"validation": None}
    assert gather_parameters({}, file, "attention")[0] == {"validation": None}
    assert gather_parameters({}, None, "attention", ["validation=none"])[0] == {"validation": None}
    assert gather_parameters({}, None, "attention", ["validation=4"])[0] == {"validation": 4}
    assert read_methods("attention", {"validation": "0.25"}, None)[0] == {"attention": {"validation": 0.25}}
    parameters, _ = read_methods("attention,MI-Net,bagwise-ensemble", {"validation": "3"}, methods)
    assert parameters["attention"] == {"validation": None}
    assert parameters["MI-Net"] == {"validation": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epoch = 3", "unknown parameter 'epoch'; did you mean 'epochs'"),
        ("attention_width = 'ten'", "attention_width = 'ten' is of type str; give a whole number"),
        ("epochs = true", "epochs = True is of type bool"),
        ("calibration = 1", "give true or false"),
        ("data = 3", "must be a table"),
        ("epochs = ", "is not valid TOML"),
    ],
)
def test_gather_parameters_rejects_wrong_file_by_name_field_and_fix(tmp_path, text, message):
    file = tmp_path / "run.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        gather_parameters({}, file)
    assert str(file) in str(error.value)


def test_read_options_parses_toml_values_and_bare_words():
    assert read_options(["n_bags=5", "spread=0.5", "split=test", "flag=true", "name=a=b"]) == {
        "n_bags": 5,
        "spread": 0.5,
        "split": "test",
        "flag": True,
        "name": "a=b",
    }
    with pytest.raises(InputError, match="not of the form NAME=VALUE"):
        read_options(["n_bags"])


def test_data_option_flag_takes_precedence_over_file(tmp_path):
    (tmp_path / "run.toml").write_text("epochs = 1\n[data]\nn_bags = 12\nmean_size = 4\n")
    arguments = ("--config", "run.toml", "--data-option", "n_bags=20", "-q")
    assert bagwise("train", "needles", "run", *arguments, cwd=tmp_path).returncode == 0
    options = json.loads((tmp_path / "run" / "parameters.json").read_text())["data"]["options"]
    assert options == {"n_bags": 20, "mean_size": 4}


def test_read_methods_applies_flags_to_networks_and_tables_to_methods(tmp_path):
    file = tmp_path / "methods.toml"
    file.write_text('[methods."MI-SVM"]\nC = 3\n[methods.attention]\nepochs = 9\n[select."mi-SVM"]\nC = [1, 10]\n')
    parameters, grids = read_methods("MI-svm, mi-svm,attention,MI-Net", {"epochs": 5, "pooling": "mean"}, file)
    assert parameters == {
        "MI-SVM": {"C": 3},
        "mi-SVM": {},
        "attention": {"epochs": 9},
        "MI-Net": {"epochs": 5},
    }
    assert grids == {"mi-SVM": {"C": [1, 10]}}
    assert list(read_methods("all", {}, None)[0]) == list(METHODS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("methods = 3", "must contain one table per method"),
        ("[method.attention]\nepochs = 3", "unknown table method"),
        ("[methods]\nattention = 3", "must be a table"),
        ('[methods."MI-SVM"]\nC = 3', "MI-SVM, which is not compared"),
        ("[methods", "not valid TOML"),
    ],
)
def test_read_methods_rejects_wrong_file(tmp_path, text, message):
    file = tmp_path / "methods.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_methods("attention", {}, file)


def test_choose_workers_returns_processes_or_cluster():
    assert choose_workers(3, "joblib", None) == 3
    assert choose_workers(1, "dask", "tcp://here:1") == DaskCluster("tcp://here:1")


@pytest.mark.parametrize(
    ("backend", "scheduler", "words"),
    [
        ("dask", None, "needs --scheduler ADDRESS"),
        ("joblib", "tcp://here:1", "needs --backend dask"),
        ("dusk", None, "did you mean|dask"),
    ],
)
def test_choose_workers_rejects_contradicting_flags(backend, scheduler, words):
    with pytest.raises(InputError, match=words):
        choose_workers(1, backend, scheduler)
