import pytest

from bagwise.export.card import describe_model
from bagwise.export.card_page import card_page
from bagwise.files import sha256

TRAINED = ("training", "training", "validation")


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
        ({"test": 0.25, "ungrouped": True}, "tested on 25% of the bags, held out by class; groups (patients) may be"),
        ({"test": None}, "tested on the data set's own test bags"),
        ({"test": None, "data": "musk1"}, "tested on a fifth of the bags, held out by class and group"),
        ({"test": None, "splits": "folds/splits_0.csv"}, "tested on the bags that splits_0.csv names"),
    ],
)
def test_it_says_on_what_it_was_tested(digits_run, monkeypatch, data, words):
    monkeypatch.setitem(
        vars(digits_run), "parameters", {**digits_run.parameters, "data": {**digits_run.parameters["data"], **data}}
    )
    assert describe_model(digits_run)["protocol"]["test"].startswith(words)


def test_patients_on_both_sides_are_counted_whatever_was_asked_for(digits_run, monkeypatch):
    monkeypatch.setitem(
        vars(digits_run),
        "training",
        [{"bag": name, "use": use, "group": group} for name, use, group in [*zip("abc", TRAINED, "ppq", strict=True)]],
    )
    monkeypatch.setitem(vars(digits_run), "predictions", [{**row, "group": "q"} for row in digits_run.predictions])
    card = describe_model(digits_run)
    assert card["training"] == {
        "n_training_bags": 2,
        "n_validation_bags": 1,
        "n_groups": 2,
        "n_groups_in_test_too": 1,
    }
    page = card_page(card)
    assert "- learned from: 2 bags, 1 more for validation, of 2 groups (patients)" in page
    assert "**1 groups (patients) of the test bags were learned from: too good**" in page


def test_bags_are_counted_where_there_are_no_groups(card, digits_run):
    assert card["training"]["n_training_bags"] == len(digits_run.parts().training)
    assert card["training"]["n_groups_in_test_too"] is None
    assert "too good" not in card_page(card)
