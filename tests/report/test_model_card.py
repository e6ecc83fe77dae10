import json

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.io.manifest import find_damage, hash_file
from bagwise.report import model_card
from bagwise.report.model_card import export_run, make_card, render_card
from bagwise.targets.classes import ClassTarget

TARGET = ClassTarget.unnamed(2)


@pytest.fixture(scope="module")
def card(digits_run):
    return make_card(digits_run)


def test_export_run_writes_the_model_its_card_and_a_manifest(digits_run, tmp_path):
    files = export_run(digits_run, tmp_path / "out")
    assert {"card.json", "card.md", "manifest.json", "model/model.json", "model/model.safetensors"} <= set(files)
    assert "model.onnx" not in files
    assert find_damage(tmp_path / "out") == []
    model = BagClassifier.load(tmp_path / "out" / "model")
    expected = [float(row["probability 1"]) for row in digits_run.predictions]
    np.testing.assert_array_equal(model.predict_proba(digits_run.test_bags())[:, 1], expected)
    assert json.loads((tmp_path / "out" / "card.json").read_text())["classes"] == digits_run.target.names


def test_export_run_leaves_no_folder_if_the_graph_fails(digits_run, tmp_path, monkeypatch):
    def fail(*arguments):
        raise InputError("no graph")

    monkeypatch.setattr(model_card, "check_onnx_packages", lambda: None)
    monkeypatch.setattr(model_card, "write_onnx", fail)
    with pytest.raises(InputError, match="no graph"):
        export_run(digits_run, tmp_path / "out", onnx=True)
    assert list(tmp_path.iterdir()) == []


def test_make_card_has_the_metrics_of_the_run_with_intervals(card, digits_run):
    assert card["test"]["metrics"] == digits_run.metrics["bags"]
    assert card["test"]["metrics"]["auc"]["interval"] is not None
    assert card["test"]["n_bags"] == len(digits_run.predictions)
    assert sum(card["test"]["n_bags_by_class"].values()) == len(digits_run.predictions)


def test_make_card_has_parameters_environment_and_hashes(card, digits_run):
    assert card["parameters"] == digits_run.parameters["parameters"]
    assert card["environment"]["packages"]["torch"]
    assert card["hashes"] == {
        "run": hash_file(digits_run.folder / "manifest.json"),
        "test_bags": digits_run.manifest["test_bags"],
    }
    assert card["instance_shape"] == [8, 8]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"test": 0.25}, "tested on 25% of the bags, held out by class and group"),
        ({"test": "others.csv"}, "tested on others.csv"),
        (
            {"test": 0.25, "ungrouped": True},
            "tested on 25% of the bags, held out by class; groups (e.g. patients) may be in both parts",
        ),
        ({"test": None}, "tested on the data set's own test bags"),
        ({"test": None, "data": "musk1"}, "tested on a fifth of the bags, held out by class and group"),
        ({"test": None, "splits": "folds/splits_0.csv"}, "tested on the test bags of splits_0.csv"),
    ],
)
def test_make_card_describes_the_test_bags(digits_run, monkeypatch, data, text):
    parameters = {**digits_run.parameters, "data": {**digits_run.parameters["data"], **data}}
    monkeypatch.setitem(vars(digits_run), "parameters", parameters)
    assert make_card(digits_run)["protocol"]["test"] == text


def test_make_card_counts_groups_with_training_and_test_bags(digits_run, monkeypatch):
    training = [
        {"bag": "a", "use": "training", "group": "p"},
        {"bag": "b", "use": "training", "group": "p"},
        {"bag": "c", "use": "validation", "group": "q"},
    ]
    monkeypatch.setitem(vars(digits_run), "training", training)
    monkeypatch.setitem(vars(digits_run), "predictions", [{**row, "group": "q"} for row in digits_run.predictions])
    card = make_card(digits_run)
    assert card["training"] == {
        "n_training_bags": 2,
        "n_validation_bags": 1,
        "n_groups": 2,
        "n_groups_in_test_too": 1,
    }
    page = render_card(card, TARGET)
    assert "- trained on: 2 bags, 1 more for validation, of 2 groups (e.g. patients)" in page
    assert "**1 groups (e.g. patients) have both training and test bags: the metrics are too optimistic**" in page


def test_make_card_counts_bags_without_groups(card, digits_run):
    assert card["training"]["n_training_bags"] == len(digits_run.parts().training)
    assert card["training"]["n_groups_in_test_too"] is None
    assert "too optimistic" not in render_card(card, TARGET)


def test_render_card_has_every_metric_with_its_interval(card):
    page = render_card(card, TARGET)
    auc = card["test"]["metrics"]["auc"]
    assert f"| AUC | {auc['value']:.3f} | {auc['interval'][0]:.3f} – {auc['interval'][1]:.3f} |" in page
    assert page.count("\n| ") == len(card["test"]["metrics"]) + 2
    for part in (card["intended_use"], card["not_intended"], card["hashes"]["run"], "gated attention"):
        assert part in page


def test_render_card_shows_undefined_metrics_as_not_available(card):
    undefined = {"value": None, "interval": None}
    page = render_card({**card, "test": {**card["test"], "metrics": {"auc": undefined}}}, TARGET)
    assert "| AUC | n/a | n/a |" in page


def test_render_card_escapes_names(card):
    page = render_card({**card, "name": "<img src=x>\n# [a](b) | c"}, TARGET)
    assert page.startswith(r"# \<img src=x\> # \[a\](b) \| c")


def test_render_card_states_how_the_epoch_was_chosen(card):
    def render(**changes):
        network = {**card["model"]["network"], **changes}
        return render_card({**card, "model": {**card["model"], "network": network}}, TARGET)

    assert "trained to the last epoch" in render_card(card, TARGET)
    assert "the epoch (7) was chosen on validation bags" in render(validated=True, best_epoch=7)
    assert "parameters averaged over the last 5 epochs" in render(averaged_epochs=5)
    assert "the last epoch;" not in render(averaged_epochs=5)


def test_render_card_names_a_method_that_is_no_network(card):
    model = {"method": "MI-SVM", "reference": "Andrews et al. 2003", "network": None}
    page = render_card({**card, "model": model}, TARGET)
    assert "- model: MI-SVM (Andrews et al. 2003), seed 1" in page
    assert "epoch" not in page.split("## Use")[0]
