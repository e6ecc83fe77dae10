import pytest

from bagwise.export.card import describe_model
from bagwise.files import sha256


@pytest.fixture(scope="module")
def card(digits_run):
    return describe_model(digits_run)


def test_the_numbers_are_the_runs_with_their_errors(card, digits_run):
    assert card["test"]["metrics"] == digits_run.metrics["bags"]
    assert card["test"]["metrics"]["auc"]["interval"] is not None
    assert card["test"]["n_bags"] == len(digits_run.predictions)
    assert sum(card["test"]["n_bags_by_class"].values()) == len(digits_run.predictions)


def test_it_says_how_to_repeat_it_and_by_what_to_recognise_it(card, digits_run):
    assert card["parameters"] == digits_run.parameters["parameters"]
    assert card["environment"]["packages"]["torch"]
    assert card["hashes"] == {
        "run": sha256(digits_run.folder / "manifest.json"),
        "test_bags": digits_run.manifest["test_bags"],
    }
    assert card["instance_shape"] == [8, 8]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"test": 0.25}, "tested on 25% of the bags, held out by class and group"),
        ({"test": "others.csv"}, "tested on others.csv"),
        ({"test": None}, "tested on the data set's own test bags"),
        ({"test": None, "splits": "folds/splits_0.csv"}, "tested on the bags that splits_0.csv names"),
    ],
)
def test_it_says_on_what_it_was_tested(digits_run, monkeypatch, data, words):
    monkeypatch.setitem(
        vars(digits_run), "parameters", {**digits_run.parameters, "data": {**digits_run.parameters["data"], **data}}
    )
    assert describe_model(digits_run)["protocol"]["test"].startswith(words)
