"""The description of a run: defaults, names, and what may change when a run is resumed."""

import json

import pytest

from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.mi_svm import MISVM
from bagwise.estimators.registry import METHODS
from bagwise.runs.run_description import build_run_estimator, load_or_complete

DATA = {"data": "needles", "options": {}, "test": None, "splits": None}


def complete(path, method=None, **parameters):
    return load_or_complete(path, {"data": DATA, "method": method, "parameters": parameters}, resume=False)


@pytest.mark.parametrize("method", [None, *METHODS])
def test_load_or_complete_writes_every_parameter_as_json_and_builds_the_same_estimator(tmp_path, method):
    description = json.loads(json.dumps(complete(tmp_path / "none.json", method)))
    again = build_run_estimator(description)
    expected = build_run_estimator(complete(tmp_path / "none.json", method))
    assert {**again.get_params(), **description["parameters"]}.keys() == expected.get_params().keys()
    assert type(again) is type(expected)
    for name, value in description["parameters"].items():
        found = expected.get_params()[name]
        assert value == (list(found) if isinstance(found, tuple) else found), name
    if "random_state" in description["parameters"]:
        assert description["parameters"]["random_state"] == 0


def test_build_run_estimator_builds_the_method_or_a_network(tmp_path):
    assert isinstance(build_run_estimator(complete(tmp_path / "none.json", "MI_SVM", C=3.0)), MISVM)
    network = build_run_estimator(complete(tmp_path / "none.json", pooling="max"))
    assert isinstance(network, BagClassifier)
    assert network.pooling == "max"


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        ("MI-SVM", {"D": 3}, "MI-SVM has no parameter 'D'"),
        ("MI-Net", {"pooling": "mean"}, "MI-Net has no parameter 'pooling'"),
        ("my method", {}, "method 'my method' is unknown"),
    ],
)
def test_load_or_complete_rejects_unknown_names(tmp_path, method, parameters, message):
    with pytest.raises(InputError, match=message):
        complete(tmp_path / "none.json", method, **parameters)


def test_load_or_complete_resumes_with_the_stored_method_and_rejects_another(tmp_path):
    path = tmp_path / "parameters.json"
    path.write_text(json.dumps(complete(path, "MI-SVM", C=3.0)))
    stored = load_or_complete(path, {"data": DATA, "parameters": {}}, resume=True)
    assert (stored["method"], stored["parameters"]["C"]) == ("MI-SVM", 3.0)
    for method, parameters, name in (("mi-SVM", {}, "method"), ("MI-SVM", {"C": 4.0}, "C")):
        with pytest.raises(InputError, match=f"was started with {name} = "):
            load_or_complete(path, {"data": DATA, "method": method, "parameters": parameters}, resume=True)


def test_load_or_complete_reads_a_description_without_a_method_as_a_network(tmp_path):
    path = tmp_path / "parameters.json"
    description = complete(path, epochs=3)
    del description["method"]
    path.write_text(json.dumps(description))
    assert load_or_complete(path, {"data": DATA, "parameters": {}}, resume=True)["method"] is None


@pytest.mark.parametrize("content", [{}, [], {"data": {}, "method": "nothing", "parameters": {}}])
def test_load_or_complete_rejects_damaged_descriptions(tmp_path, content):
    path = tmp_path / "parameters.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="is damaged"):
        load_or_complete(path, {"data": DATA, "parameters": {}}, resume=True)
