"""Explanations of the predictions of a model that was saved from Python."""

import numpy as np
import pytest

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.registry import build_method
from bagwise.explain.layers import BagLayers
from bagwise.explain.trust import make_overview_rows
from bagwise.runs.model_predictions import ModelPredictions
from bagwise.runs.open_run import OpenRun

BAGS = load_dataset("needles", n_bags=30)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    build_method("MI-SVM", random_state=0, calibration=False).fit(BAGS, BAGS.labels).save(folder)
    return folder


def test_model_predictions_have_the_predictions_and_weights_of_the_model(model):
    found = ModelPredictions(model, "needles", n_bags=30)
    opened = OpenRun(found)
    outputs, weights = opened.model.predict_with_weights(BAGS)
    assert [[row["probability 0"], row["probability 1"]] for row in found.predictions] == [
        [repr(float(value)) for value in row] for row in outputs
    ]
    np.testing.assert_array_equal(found.weights, weights)
    assert [row["label"] for row in found.predictions] == [str(label) for label in BAGS.labels]
    np.testing.assert_array_equal(BagLayers(opened).weights(3), weights[opened.rows(3)])
    assert len(make_overview_rows(found)) == 30


def test_model_predictions_need_no_labels(model, tmp_path):
    save_bags(BAGS.replace(labels=None), tmp_path / "bags")
    assert {row["label"] for row in ModelPredictions(model, str(tmp_path / "bags")).predictions} == {"unknown"}
