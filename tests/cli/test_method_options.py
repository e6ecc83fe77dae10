import pytest

from bagwise.cli.method_options import read_methods
from bagwise.errors import InputError
from bagwise.estimators.methods import METHODS


def test_flags_are_for_networks_and_the_file_for_the_methods_it_names(tmp_path):
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
        ("methods = 3", "must be"),
        ("[method.attention]\nepochs = 3", "method is unknown"),
        ("[methods]\nattention = 3", "must be a table"),
        ('[methods."MI-SVM"]\nC = 3', "MI-SVM, which is not compared"),
        ("[methods", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text, message):
    file = tmp_path / "methods.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_methods("attention", {}, file)
