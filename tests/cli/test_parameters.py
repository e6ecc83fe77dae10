import inspect
import json

import pytest

from bagwise.cli.parameters import PARAMETERS, PYTHON_NAMES, gather, read_options
from bagwise.cli.train import train
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from command_line import bagwise


def test_the_words_are_the_same_in_python_on_the_command_line_and_in_toml():
    words = {PYTHON_NAMES.get(name, name) for name in PARAMETERS}
    assert words == set(BagClassifier().get_params()) - {"verbose"}
    assert set(inspect.signature(train).parameters) >= PARAMETERS.keys()


def test_flags_win_over_the_file_and_what_is_not_given_is_left_out(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text('epochs = 7\npooling = "max"\nseed = 3\nlearning_rate = 1\n[data]\nn_bags = 12\n')
    parameters, options = gather({"epochs": 9, "dropout": None}, file)
    assert parameters == {"epochs": 9, "pooling": "max", "random_state": 3, "learning_rate": 1}
    assert options == {"n_bags": 12}
    assert gather({"epochs": None}, None) == ({}, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epoch = 3", "no parameter 'epoch'; did you mean 'epochs'"),
        ("epochs = 'ten'", "epochs = 'ten' is a str; give a int"),
        ("epochs = true", "epochs = True is a bool"),
        ("standardize = 1", "give a bool"),
        ("data = 3", "must be a table"),
        ("epochs = ", "is not valid TOML"),
    ],
)
def test_a_wrong_file_is_refused_by_file_field_and_fix(tmp_path, text, message):
    file = tmp_path / "run.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as refusal:
        gather({}, file)
    assert str(file) in str(refusal.value)


def test_options_are_toml_values_or_bare_words():
    assert read_options(["n_bags=5", "spread=0.5", "split=test", "flag=true", "name=a=b"]) == {
        "n_bags": 5,
        "spread": 0.5,
        "split": "test",
        "flag": True,
        "name": "a=b",
    }
    with pytest.raises(InputError, match="not of the form NAME=VALUE"):
        read_options(["n_bags"])


def test_an_option_on_the_command_line_wins_over_the_file(tmp_path):
    (tmp_path / "run.toml").write_text("epochs = 1\n[data]\nn_bags = 12\nmean_size = 4\n")
    arguments = ("--config", "run.toml", "--data-option", "n_bags=20", "-q")
    assert bagwise("train", "needles", "run", *arguments, cwd=tmp_path).returncode == 0
    options = json.loads((tmp_path / "run" / "parameters.json").read_text())["data"]["options"]
    assert options == {"n_bags": 20, "mean_size": 4}
